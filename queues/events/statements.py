"""The SQL of the event queue, as far as the dialects agree; the values go beside it, never into it.

Parameters are written `:name`. The tables:

* `events` (id, job, task, result, at_us): the log. Unique: (job, task) of what succeeded.
* `subscriptions` (source, consumer, ready): which job claims whose events; ready once what was there before is work.
* `work` (consumer, task, source, event, at_us, worker, token, until_us): one row for every event that is pending for a
  job that claims; it goes when the event is processed, so that a claim costs the same however long the log has become.
"""

from __future__ import annotations

import functools
import re

COLUMNS = "e.id, e.job, e.task, e.result, e.at_us"
OF = "e.job = :of AND e.result = 'SUCCEEDED'"
DONE = "d.job = :by AND d.result = 'SUCCEEDED'"
BY_SOURCE_BOUND, BY_DONE_BOUND = "e.at_us >= :since_us", "d.at_us >= :since_us"
ORDER = "ORDER BY e.at_us, e.id"

UNBOUNDED: dict[str, str] = {
    "not-in": f"""
        SELECT {COLUMNS} FROM events e
        WHERE {OF} AND e.task NOT IN (SELECT d.task FROM events d WHERE {DONE})
        {ORDER}""",
    "not-exists": f"""
        SELECT {COLUMNS} FROM events e
        WHERE {OF} AND NOT EXISTS (SELECT 1 FROM events d WHERE {DONE} AND d.task = e.task)
        {ORDER}""",
    "left-join": f"""
        SELECT {COLUMNS} FROM events e
        LEFT JOIN events d ON {DONE} AND d.task = e.task
        WHERE {OF} AND d.id IS NULL
        {ORDER}""",
    "except": f"""
        SELECT {COLUMNS} FROM events e
        WHERE {OF} AND e.task IN (
            SELECT e.task FROM events e WHERE {OF}
            EXCEPT SELECT d.task FROM events d WHERE {DONE})
        {ORDER}""",
}
"""form -> the query over the whole table."""

BOUNDED: dict[str, str] = {
    form: text.replace(OF, f"{OF} AND {BY_SOURCE_BOUND}").replace(DONE, f"{DONE} AND {BY_DONE_BOUND}")
    for form, text in UNBOUNDED.items()
}
"""form -> the query that looks at nothing before `since_us`."""

FIRST_SUCCESS = "SELECT id FROM events WHERE job = :job AND task = :task AND result = 'SUCCEEDED' ORDER BY id LIMIT 1"

FAN_OUT = """
    INSERT INTO work (consumer, task, source, event, at_us, worker, token, until_us)
    SELECT s.consumer, :task, s.source, :event, :at_us, '', 0, :never FROM subscriptions s
    WHERE s.source = :job AND NOT EXISTS (
        SELECT 1 FROM events d WHERE d.job = s.consumer AND d.task = :task AND d.result = 'SUCCEEDED')"""
"""After an event has been written: it is work for whoever claims the job's events."""

WORK_DONE = "DELETE FROM work WHERE consumer = :job AND task = :task"
SUBSCRIBED = "SELECT 1 FROM subscriptions WHERE source = :of AND consumer = :by AND ready = 1"
SUBSCRIBE = "INSERT INTO subscriptions (source, consumer, ready) VALUES (:of, :by, 0)"
SUBSCRIPTION = "SELECT ready FROM subscriptions WHERE source = :of AND consumer = :by"
READY = "UPDATE subscriptions SET ready = 1 WHERE source = :of AND consumer = :by"

NEXT = """
    SELECT w.task FROM work w
    WHERE w.consumer = :by AND w.source = :of AND w.until_us <= :now_us
    ORDER BY w.at_us, w.event LIMIT 1"""
"""The task that nobody has, of the first event: those before it are few, one for each claim that is held."""

OWNED = "consumer = :by AND source = :of AND task = :task AND token = :token AND worker <> ''"
HEARTBEAT = f"UPDATE work SET until_us = :until_us WHERE {OWNED}"
RELEASE = f"UPDATE work SET until_us = :never, worker = '' WHERE {OWNED}"
COMPLETE = f"DELETE FROM work WHERE {OWNED}"


def backfill(waiting: str = "") -> str:
    """Return the statement that makes work of what is pending, once a subscription is committed.

    What is written later is handed on by who writes it. `waiting` lets it wait for what is not committed yet.
    """
    return f"""
        INSERT INTO work (consumer, task, source, event, at_us, worker, token, until_us)
        SELECT :by, e.task, e.job, e.id, e.at_us, '', 0, :never FROM events e
        WHERE e.job = :of AND e.result = 'SUCCEEDED' AND NOT EXISTS (
            SELECT 1 FROM events d WHERE d.job = :by AND d.task = e.task AND d.result = 'SUCCEEDED' {waiting})
        {waiting}"""


def take(locking: str = "") -> str:
    """Return the statement that claims the next event; `locking` lets it pass over those that are being claimed."""
    return f"""
        UPDATE work SET worker = :worker, token = token + 1, until_us = :until_us
        WHERE consumer = :by AND source = :of AND task = ({NEXT} {locking})
        RETURNING event, task, at_us, token"""


@functools.cache
def percent(text: str) -> str:
    """Return a statement with its parameters written as psycopg and PyMySQL want them; there are a few dozen.

    >>> percent("SELECT id FROM events WHERE job = :job")
    'SELECT id FROM events WHERE job = %(job)s'
    """
    return re.sub(r":(\w+)", r"%(\1)s", text)
