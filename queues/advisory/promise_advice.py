"""Promises about which job is advised, when, and what that does to it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from queues.advisory.trial import Promise, Trial, promise

ADVICE: list[Promise] = []


@promise(ADVICE, "essential-methods")
def essential_methods(trial: Trial) -> None:
    """There are add and next_job."""
    trial.expect(trial.offer.missing(("add", "next_job")), [], "missing")


@promise(ADVICE, "new-job-due-at-once")
def new_job_due_at_once(trial: Trial) -> None:
    """A new job is due at once, whatever the clock says.

    At 0, at a wall clock's time, and before 0.
    """
    for now in (0, 1.7e9, -500):
        trial.expect_advice(trial.with_jobs(("a", 10), now=now), now, "a", 0)


@promise(ADVICE, "next-run-a-period-later")
def next_run_a_period_later(trial: Trial) -> None:
    """Advice that is due counts as a run now, and the next one is a period later."""
    scheduler = trial.with_jobs(("a", 10), now=100)
    trial.expect_advice(scheduler, 100, "a", 0)
    trial.expect_advice(scheduler, 103, "a", 7)


@promise(ADVICE, "early-advice-counts-as-run")
def early_advice_counts_as_run(trial: Trial) -> None:
    """Advice to wait counts as a run when the wait is over."""
    scheduler = trial.with_jobs(("a", 10), now=0)
    trial.expect_advice(scheduler, 0, "a", 0)
    trial.expect_advice(scheduler, 4, "a", 6)
    trial.expect_advice(scheduler, 11, "a", 9)


@promise(ADVICE, "most-overdue-first")
def most_overdue_first(trial: Trial) -> None:
    """The most overdue job comes first, and among future ones the next."""
    scheduler = trial.with_jobs(("slow", 30), ("fast", 7), ("middle", 20))
    trial.expect_ids(scheduler, 0, ["slow", "fast", "middle"])
    trial.expect_ids(scheduler, 100, ["fast", "middle", "slow"])
    trial.expect_advice(scheduler, 101, "fast", 6)


@promise(ADVICE, "ties-least-recently-added")
def ties_least_recently_added(trial: Trial) -> None:
    """Jobs that were never chosen come in order of adding, whatever their ids."""
    ids = [str(number) for number in range(10, -1, -1)]
    scheduler = trial.with_jobs(*((job_id, 60) for job_id in ids))
    trial.expect_ids(scheduler, 0, ids)
    ids = [str(number) for number in range(11)]
    trial.expect_ids(trial.with_jobs(*((job_id, 60) for job_id in ids)), 0, ids)


@promise(ADVICE, "ties-least-recently-chosen")
def ties_least_recently_chosen(trial: Trial) -> None:
    """Jobs with the same next run come in the order in which they were last chosen."""
    scheduler = trial.with_jobs(("a", 10), ("b", 5), ("c", 10))
    trial.expect_ids(scheduler, 0, "abc")
    trial.expect_advice(scheduler, 5, "b", 0)  # a and c: at 10; b too, and it was chosen last
    trial.expect_ids(scheduler, 10, "acb")


@promise(ADVICE, "ids-never-ordered")
def ids_never_ordered(trial: Trial) -> None:
    """Ids need no order: what can be hashed is an id, mixed with any other."""
    ids: list[Any] = ["1", 2, (1, "2"), frozenset({1}), 3.5, None, b"1"]
    scheduler = trial.with_jobs(*((job_id, 10) for job_id in ids))
    trial.expect_ids(scheduler, 0, ids)
    trial.expect_ids(scheduler, 10, ids)


@promise(ADVICE, "idle-polling-moves-nothing")
def idle_polling_moves_nothing(trial: Trial) -> None:
    """A job that is a period or more ahead is advised again, but not moved, however often one asks."""
    for period in (10, 0.1, 0.7):
        scheduler = trial.with_jobs(("a", period), now=0.3)
        trial.expect_advice(scheduler, 0.3, "a", 0)
        delays = {scheduler.next_job(0.3)[1] for _ in range(5)}
        trial.expect(len(delays), 1, "different delays")
        trial.expect_advice(scheduler, 0.3 + period, "a", 0)


@promise(ADVICE, "idle-polling-counts-as-chosen")
def idle_polling_counts_as_chosen(trial: Trial) -> None:
    """A job that is advised again counts as chosen, so jobs that tie take turns."""
    scheduler = trial.with_jobs(("a", 10), ("b", 10), ("c", 10))
    trial.expect_ids(scheduler, 0, "abcabcab")
    trial.expect_ids(scheduler, 10, "cab")


@promise(ADVICE, "cadence-counts-from-the-run")
def cadence_counts_from_the_run(trial: Trial) -> None:
    """The cadence is advisory: a caller that is always 1 late runs a period of 10 every 11."""
    scheduler = trial.with_jobs(("a", 10))
    for k in range(100):
        trial.expect_advice(scheduler, 11 * k, "a", 0)
    trial.expect_advice(scheduler, 11 * 99 + 9, "a", 1)


@promise(ADVICE, "catch-up-once")
def catch_up_once(trial: Trial) -> None:
    """After many periods of silence a job is due once, not once for each."""
    scheduler = trial.with_jobs(("a", 10))
    trial.expect_advice(scheduler, 0, "a", 0)
    trial.expect_advice(scheduler, 95, "a", 0)
    trial.expect_advice(scheduler, 95, "a", 10)


@promise(ADVICE, "head-blocks-nobody")
def head_blocks_nobody(trial: Trial) -> None:
    """A job with a huge or a tiny period, or one of another kind of number, keeps nobody else from being chosen."""
    for period in (1e9, 1e308, 10**400, Fraction(10**9), Decimal(10**9), 5e-324):
        scheduler = trial.with_jobs(("a", period), ("b", 5))
        trial.expect(sorted(scheduler.next_job(0)[0] for _ in range(2)), ["a", "b"])
        runs = [scheduler.next_job(now)[0] for now in range(5, 50, 5) for _ in range(2)]
        trial.expect(runs.count("b") >= 9, True, "b is chosen each time it is due")


@promise(ADVICE, "zero-is-a-time")
def zero_is_a_time(trial: Trial) -> None:
    """`now=0` is a time and does not ask the clock."""
    scheduler = trial.with_jobs(("a", 10), now=-3)
    trial.expect_advice(scheduler, -3, "a", 0)
    trial.clock.now = 700
    trial.expect(scheduler.next_job(0)[1], 7, "delay")
    trial.expect(scheduler.next_job(now=0)[1], 17, "delay")


@promise(ADVICE, "asks-the-clock", "clock")
def asks_the_clock(trial: Trial) -> None:
    """Without `now` the clock is asked, each time."""
    scheduler = trial.with_jobs(("a", 10), now=100)
    trial.expect(scheduler.next_job()[:2], ("a", 0))
    trial.clock.now = 104
    trial.expect(scheduler.next_job(None)[:2], ("a", 6))


@promise(ADVICE, "clock-may-go-back")
def clock_may_go_back(trial: Trial) -> None:
    """A clock that goes back takes the schedule with it: nobody waits out the step, nobody is left out."""
    scheduler = trial.with_jobs(("a", 10), now=1000)
    trial.expect_advice(scheduler, 1000, "a", 0)
    trial.expect_advice(scheduler, 500, "a", 10)
    trial.expect_advice(scheduler, 510, "a", 0)
    trial.expect_advice(scheduler, 513, "a", 7)
    trial.expect_advice(scheduler, 400, "a", 10)  # it was to run at 520, and next at 530: 17 later
    scheduler = trial.with_jobs(("a", 10), ("b", 10), ("c", 3600), now=1000)
    trial.expect_ids(scheduler, 1000, "abc")
    trial.expect_ids(scheduler, 995, "ab")
    trial.expect_ids(scheduler, 1005, "ab")


@promise(ADVICE, "exact-numbers")
def exact_numbers(trial: Trial) -> None:
    """Instants are kept as the clock has them; mixed kinds of numbers are compared and added by value."""
    third = Fraction(1, 3)
    scheduler = trial.with_jobs(("a", third), now=Fraction(0))
    for k in range(4):
        trial.expect_advice(scheduler, third * k, "a", 0)
    trial.expect_advice(scheduler, Fraction(1), "a", third)
    now = 10**18 + 1
    scheduler = trial.with_jobs(("a", 10**9), now=now)
    trial.expect_advice(scheduler, now, "a", 0)
    trial.expect_advice(scheduler, now + 1, "a", 10**9 - 1)
    scheduler = trial.with_jobs(("a", 0.5), now=Decimal("0.1"))
    trial.expect_advice(scheduler, Decimal("0.1"), "a", 0)
    trial.expect_advice(scheduler, Decimal("0.2"), "a", Fraction(2, 5))
