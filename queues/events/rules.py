"""What an event is, what may be one, and how a pipeline says no: shared by all engines and by the oracle."""

from __future__ import annotations

import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

SUCCEEDED, FAILED = "SUCCEEDED", "FAILED"
RESULTS = (SUCCEEDED, FAILED)
FORMS = ("not-in", "not-exists", "left-join", "except")
"""How the pending events are asked for."""

LONGEST_JOB, LONGEST_TASK = 100, 200
"""Characters. An index of every engine bears so many."""

LOWEST, HIGHEST = -(2**63), 2**63 - 1


class EventsError(Exception):
    """Something that a pipeline cannot do now. Its text is one sentence, without an address or a password."""


class StaleClaim(EventsError):
    """The claim is no longer the one that counts: its lease ran out and another worker has the event, or it is done."""


class Busy(EventsError):
    """Others held what was needed for longer than the limit. Nothing was changed; it may be tried again."""


class StorageFull(EventsError):
    """There is no room for more. Nothing was changed."""


class Unavailable(EventsError):
    """The server does not answer. Whether the last call was done is not known; the next call connects anew."""


class Event:
    """A task of a job that ended: `result` is SUCCEEDED or FAILED, `at_us` the instant in microseconds.

    >>> Event(7, "fetch", "page 1", "SUCCEEDED", 12).at_us
    12
    """

    __slots__ = ("at_us", "id", "job", "result", "task")

    def __init__(self, id: int, job: str, task: str, result: str, at_us: int) -> None:  # noqa: A002 - the column's name
        self.id = id
        self.job = job
        self.task = task
        self.result = result
        self.at_us = at_us

    @property
    def row(self) -> tuple[int, str, str, str, int]:
        """All of it, in the order of the columns."""
        return (self.id, self.job, self.task, self.result, self.at_us)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self.row == other.row

    def __hash__(self) -> int:
        return hash(self.row)

    def __repr__(self) -> str:
        return f"Event{self.row}"


class Claim:
    """An event that one worker of a job has until `until_us`; `token` tells this claim from later ones of the event.

    `token` counts the claims of the event, so one above 1 says that it was claimed before and not completed.
    """

    __slots__ = ("by", "event", "lease_us", "token", "until_us", "worker")

    def __init__(self, event: Event, by: str, worker: str, token: int, lease_us: int, until_us: int) -> None:
        self.event = event
        self.by = by
        self.worker = worker
        self.token = token
        self.lease_us = lease_us
        self.until_us = until_us

    def __repr__(self) -> str:
        return f"Claim({self.event}, by={self.by!r}, worker={self.worker!r}, token={self.token})"


def now_us() -> int:
    """Return the time of the system's clock in microseconds."""
    return time.time_ns() // 1000


def require_name(name: Any, what: str, longest: int) -> str:
    """Return a job's, a task's or a worker's name; TypeError for what is no text, ValueError for a text that is none.

    A text has 1 to `longest` characters, no NUL (PostgreSQL has no room for it) and no half of a surrogate pair.

    >>> require_name("", "job", 100)
    Traceback (most recent call last):
        ...
    ValueError: the job is '': expected 1 to 100 characters
    """
    if not isinstance(name, str):
        raise TypeError(f"the {what} is {type(name).__name__}: expected a text of 1 to {longest} characters")
    if not 0 < len(name) <= longest:
        shown = repr(name) if len(name) < 30 else f"{len(name)} characters long"
        raise ValueError(f"the {what} is {shown}: expected 1 to {longest} characters")
    if "\0" in name or (not name.isprintable() and any("\ud800" <= character <= "\udfff" for character in name)):
        raise ValueError(f"the {what} is {name!r}: expected characters that can be stored: no NUL, no lone surrogate")
    return str(name)


def require_plain(name: str) -> str:
    """Return the name of a schema or a database; ValueError for one that would have to be quoted with care.

    >>> require_plain("events; --")
    Traceback (most recent call last):
        ...
    ValueError: the name is 'events; --': expected 1 to 63 of a-z, 0-9 and _, a letter first
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name):
        raise ValueError(f"the name is {name!r}: expected 1 to 63 of a-z, 0-9 and _, a letter first")
    return name


def require_path(path: Any) -> str:
    """Return the name of a file as a text; ValueError for one that no file can have, "" included.

    >>> require_path("")
    Traceback (most recent call last):
        ...
    ValueError: the path is '': expected the name of a file
    """
    found = os.fsdecode(path)
    if not found or "\0" in found:
        raise ValueError(f"the path is {path!r}: expected the name of a file")
    return found


def require_busy(seconds: Any) -> None:
    """Refuse a wait that is no number of seconds of at least 0; TypeError for what is no number.

    >>> require_busy(float("nan"))
    Traceback (most recent call last):
        ...
    ValueError: busy_seconds is nan: expected seconds, at least 0
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"busy_seconds is {type(seconds).__name__}: expected seconds, at least 0")
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"busy_seconds is {seconds}: expected seconds, at least 0")


def require_result(result: Any) -> str:
    """Return the result; ValueError for one that is neither SUCCEEDED nor FAILED."""
    if result not in RESULTS:
        raise ValueError(f"the result is {result!r}: expected one of {', '.join(RESULTS)}")
    return str(result)


def require_whole(value: Any, what: str, lowest: int = LOWEST) -> int:
    """Return a whole number of 64 bits; TypeError for what is none, ValueError for one that is out of range.

    >>> require_whole(1.5, "at_us")
    Traceback (most recent call last):
        ...
    TypeError: at_us is float: expected a whole number of microseconds or the like
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is {type(value).__name__}: expected a whole number of microseconds or the like")
    if not lowest <= value <= HIGHEST:
        raise ValueError(f"{what} is {value}: expected {lowest} to {HIGHEST}")
    return int(value)


def require_form(form: Any) -> str:
    """Return the form of the query; ValueError for an unknown one."""
    if form not in FORMS:
        raise ValueError(f"the form is {form!r}: expected one of {', '.join(FORMS)}")
    return str(form)


def require_event(event: Any) -> Event:
    """Return the event; TypeError for anything else."""
    if not isinstance(event, Event):
        raise TypeError(f"{type(event).__name__} was given: expected an event that record, pending or claim returned")
    return event


def require_claim(claim: Any) -> Claim:
    """Return the claim; TypeError for anything else."""
    if not isinstance(claim, Claim):
        raise TypeError(f"{type(claim).__name__} was given: expected a claim that claim() returned")
    return claim


def stale(claim: Claim) -> NoReturn:
    """Refuse what the owner of a claim that no longer counts wants."""
    raise StaleClaim(
        f"the claim of {claim.worker!r} on event {claim.event.id} no longer counts: "
        f"its lease ran out and it was claimed again, or it is done; drop the work"
    )
