"""What a rate limiter promises to those who wait."""

from __future__ import annotations

from queues.pacing.instants import exact
from queues.pacing.promises_limiter import PERMITS
from queues.pacing.trial import Broken, Promise, Trial, excess, promise

WAITING: list[Promise] = []


def _drained(trial: Trial, rate: int = 1, burst: int = 2, now: float = 100.0) -> None:
    trial.begin(rate, burst, now=now)
    trial.expect(trial.call("try_acquire", burst), True, "the burst at the start")


@promise(WAITING, "served-when-due", "try_acquire acquire")
def _served(trial: Trial) -> None:
    """Each that waits goes on at the instant at which its permits have flowed in."""
    _drained(trial)
    waiting = [trial.enter("acquire") for _ in range(4)]
    trial.at(110.0)
    trial.expect([one.at for one in waiting], [101.0, 102.0, 103.0, 104.0], "went on at")


@promise(WAITING, "in-order", "try_acquire acquire")
def _in_order(trial: Trial) -> None:
    """Those who wait are served in the order in which they came, whatever they want."""
    _drained(trial)
    waiting = [trial.enter("acquire", n) for n in (2, 1, 2, 1)]
    trial.at(120.0)
    trial.expect([one.at for one in waiting], [102.0, 103.0, 105.0, 106.0], "went on at")


@promise(WAITING, "newcomers-go-last", "try_acquire acquire")
def _newcomers(trial: Trial) -> None:
    """Who asks while others wait does not get what those wait for."""
    _drained(trial)
    first = trial.enter("acquire", 2)
    trial.at(101.5)
    trial.expect(trial.call("try_acquire"), False, "with one permit there and two waited for")
    trial.at(110.0)
    trial.expect(first.at, 102.0, "the one that waited went on at")


@promise(WAITING, "waiting-keeps-the-bound", "try_acquire acquire")
def _bound(trial: Trial) -> None:
    """Permits that were waited for count in the bound like all others."""
    _drained(trial, 10, 4)
    waiting = [trial.enter("acquire", 1 + number % 3) for number in range(20)]
    trial.at(200.0)
    granted = sorted(((one.at, 1 + number % 3) for number, one in enumerate(waiting) if one.done), key=lambda g: g[0])
    trial.expect(len(granted), 20, "how many went on")
    said = excess([(100.0, 4, True), *((instant, n, True) for instant, n in granted)], 10, 4)
    if said:
        raise Broken(trial.told(said))


@promise(WAITING, "one-wake-up-a-grant", "try_acquire acquire")
def _wake_ups(trial: Trial) -> None:
    """A thousand that wait are not all woken for each permit: at most two wake-ups a grant."""
    count = max(50, min(1000, trial.steps))
    _drained(trial, 100, 2)
    waiting = [trial.rig.enter("acquire", settle=False) for _ in range(count)]
    trial.rig.settle()
    trial.log.append(f"{count} × acquire() waits")
    trial.at(100.0 + count)
    trial.expect(all(one.done for one in waiting), True, "all went on")
    steps = sum(one.steps for one in waiting)
    if steps > 2 * count:
        raise Broken(trial.told(f"{steps} wake-ups for {count} grants"))


@promise(WAITING, "leaver-frees-the-next", "try_acquire acquire")
def _leaver(trial: Trial) -> None:
    """When one that waits is interrupted or cancelled, those behind it are served as if it had never come."""
    _drained(trial)
    first, second, third = (trial.enter("acquire", n) for n in (2, 1, 1))
    trial.at(100.5)
    trial.leave(first, 1)
    trial.expect(first.done and first.error is not None, True, "the interrupted one has ended")
    trial.at(110.0)
    trial.expect([second.at, third.at], [101.0, 102.0], "the others went on at")


@promise(WAITING, "leavers-leave-no-debt", "try_acquire acquire")
def _no_debt(trial: Trial) -> None:
    """However many came and left, the bucket is what it would be without them."""
    _drained(trial)
    for number in range(20):
        trial.leave(trial.enter("acquire", 1 + number % 2), number + 1)
    trial.at(102.0)
    granted = [trial.call("try_acquire") for _ in range(3)]
    trial.expect(granted, [True, True, False], "granted after two seconds")


@promise(WAITING, "handed-but-not-taken", "try_acquire acquire")
def _handed(trial: Trial) -> None:
    """One that is cancelled at the very instant at which it is served either has its permit or the next one gets it."""
    for early in (True, False):
        _drained(trial)
        first = trial.enter("acquire")
        second, third = trial.enter("acquire"), trial.enter("acquire")
        trial.rig.throw_at(first, 101.0, early=early)
        trial.log.append("waiter 1 is cancelled at 101.0")
        trial.at(110.0)
        expected = [101.0, 102.0] if first.error is not None else [102.0, 103.0]
        trial.expect([second.at, third.at], expected, "the others went on at")


@promise(WAITING, "clock-back-strands-nobody", "clock try_acquire acquire")
def _clock_back(trial: Trial) -> None:
    """When the clock goes back, those who wait are served at the latest as if they came then."""
    _drained(trial)
    waiting = [trial.enter("acquire") for _ in range(3)]
    trial.at(100.5)
    trial.rig.step_clock(-50.0)
    trial.log.append("the clock goes back by 50 s")
    trial.at(106.0)
    trial.expect([one.done for one in waiting], [True] * 3, "served within 6 s")


@promise(WAITING, "close-wakes-all", "try_acquire acquire close")
def _close(trial: Trial) -> None:
    """close() wakes those who wait with an error, and nothing is granted any more."""
    _drained(trial)
    waiting = [trial.enter("acquire") for _ in range(3)]
    trial.call("close")
    trial.rig.settle()
    trial.expect([one.done and isinstance(one.error, RuntimeError) for one in waiting], [True] * 3, "woken by an error")
    trial.refused((RuntimeError,), "try_acquire")
    trial.refused((RuntimeError,), "acquire")
    trial.expect(exact(trial.rig.clock()), 100, "the time")


@promise(WAITING, "close-leaves-nothing", "try_acquire acquire close")
def _leaves_nothing(trial: Trial) -> None:
    """After close() no thread and no task is left."""
    _drained(trial)
    trial.enter("acquire")
    trial.at(102.0)
    trial.enter("acquire", 2)
    trial.call("close")
    trial.rig.settle()
    trial.expect(trial.rig.left(), [], "left")


LIMITING: tuple[Promise, ...] = (*PERMITS, *WAITING)
"""All promises of a rate limiter, in reading order."""
