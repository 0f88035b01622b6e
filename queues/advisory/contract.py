"""The contract of the advisory schedulers as a protocol: pure typing, nothing to inherit.

Numbers that stand for instants are whatever the clock returns: int, float, Fraction or Decimal, also mixed. Sums are
Python's own; where Python adds two of them not at all (Decimal and float), only to infinity, or beyond 2**52, where a
float may swallow what is added to it, the sum is an exact Fraction. What is finite stays finite, and no rounding is
added.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from queues.contract import Clock, Instant, Span


class AdvisoryScheduler(Protocol):
    """Jobs that should run once every so often; it says which one is next and how long to wait, and never sleeps.

    Promises that hold for every subject (queues/advisory/promises.py has a named check for each):

    * The most overdue job comes first. Ties go to the least recently chosen, then the least recently added, never to
      the id, which is only hashed and compared for equality, as in a dict.
    * A new job is due at once, whatever the clock says, also below zero: it stands before all that have run.
    * Advice counts as a run at `now + delay`, and the next run is a period after that. So the cadence is advisory, no
      grid: a caller that asks a second late each time runs a period of 10 every 11, and a caller that was away for
      many periods is told once, not once for each.
    * A job that is already a period or more ahead is advised again and counts as chosen, but is not moved, so polling
      cannot push the schedule into the future. (A caller that follows such advice is told of the same run when it is
      due. That takes one who asks in the very instant of the last run; any later, the job is less than a period ahead.)
    * A clock that goes back takes the schedule with it: delays stay what they were, at most a period, so nobody waits
      out the step. From then on `job_data` speaks in the new time. (Where `now` is given, a smaller one than before is
      such a step.)
    * A refused call leaves everything as it was. So does a clock that raises.
    * Userdata is never compared, hashed or asked for truth, and is let go of with its job.
    * The clock may call the scheduler. Not thread-safe, not persistent, unless the subject says so.
    """

    def __init__(self, *, auto_spread: bool = False, clock: Clock = ...) -> None:
        """A scheduler without jobs. `auto_spread`: `spread` at the clock's time after each add, remove, update_period.

        `clock` (default time.time) is asked where no `now` is given, and by `auto_spread`.
        """

    def add(self, job_id: Hashable, period: Span, userdata: Any = None) -> None:
        """Add a job that should run once every `period`, in the clock's unit; it is due at once.

        The period is a positive finite number: ValueError for zero, negative, infinite and NaN, TypeError for what is
        no number, which True and text are not. ValueError for an id that is there already; TypeError for an id that
        cannot be hashed. An id that was removed is a new one: nothing of its old job is left.
        """

    def update_period(self, job_id: Hashable, period: Span) -> None:
        """Set the period and with it the next run, which is the last run plus the new period.

        A job that never ran is due at once. What `spread` did to this job is undone. Its place among ties stays.
        KeyError for an unknown id, ValueError and TypeError as for `add`.
        """

    def remove(self, job_id: Hashable) -> None:
        """Forget the job; KeyError for an unknown id."""

    def spread(self, now: Instant | None = None) -> None:
        """Put jobs of similar period evenly over that period, all jobs at different instants, the first one at `now`.

        A job that is overdue (its next run is earlier than `now`) and has run before keeps its next run. Jobs keep
        their order, the new ones come last. What is even already is left as it is, and so is a job that has run and
        has no similar one. Nothing to do without jobs. queues/advisory/spread.py says which periods are similar.
        """

    def next_job(self, now: Instant | None = None) -> tuple[Any, Span, Any]:
        """Return (id, delay, userdata) of the job to run next; the delay is 0 for one that is due.

        `now=None` asks the clock; 0 is a time. It must be finite: ValueError for NaN and ±inf, TypeError for what is no
        number. LookupError when there is no job.
        """

    def all_jobs(self) -> list[Any]:
        """The ids in order of adding, in a new list."""

    def job_data(self, job_id: Hashable) -> tuple[Instant, Instant, Span]:
        """Return (last run, next run, period); 0 stands for the last run of a job that never ran.

        It also stands for the next run of a job that is due at once, until `spread` gives it one. KeyError for an
        unknown id.
        """

    def userdata(self, job_id: Hashable) -> Any:
        """The userdata as given, None when there is none; KeyError for an unknown id."""

    def update_userdata(self, job_id: Hashable, value: Any) -> None:
        """Replace the userdata, also by None; KeyError for an unknown id."""

    def delete_userdata(self, job_id: Hashable) -> None:
        """Let go of the userdata, if there is any; KeyError for an unknown id."""
