"""What a ticker promises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from queues.pacing.model import TickerModel
from queues.pacing.rigging import is_awaited
from queues.pacing.trial import Broken, NotOffered, Promise, Trial, promise

TICKING: list[Promise] = []


def _taken(trial: Trial, works: list[Any]) -> list[tuple[Any, Any]]:
    """Take a tick after each piece of work; return when each call came back, and with which tick."""
    taken = []
    for work in works:
        if work:
            trial.at(trial.rig.clock() + work)
        tick = trial.call("wait_next")
        taken.append((trial.rig.clock(), tick))
    return taken


@promise(TICKING, "on-the-grid", "wait_next")
def _grid(trial: Trial) -> None:
    """Tick k of a consumer that is on time is t0 + k * interval."""
    trial.begin(1.0, now=100.0)
    trial.expect(_taken(trial, [0] * 5), [(100.0 + k, 100.0 + k) for k in range(1, 6)], "(came back, tick)")


@promise(TICKING, "work-does-not-count", "wait_next")
def _work(trial: Trial) -> None:
    """What the consumer does between ticks does not move the grid."""
    trial.begin(1.0, now=0.0)
    trial.expect([tick for _, tick in _taken(trial, [0] + [0.2] * 9)], [float(k) for k in range(1, 11)], "ticks")


@promise(TICKING, "lateness-does-not-add-up", "wait_next")
def _late(trial: Trial) -> None:
    """Though every wake-up is late, tick k is due at t0 + k * interval."""
    count = max(100, min(10_000, trial.steps))
    rig = trial.begin(1.0, now=0.0)
    rig.wake_late(0.003)
    trial.log.append("every wake-up is 3 ms late")
    ticks = rig.calls("wait_next", count)
    trial.log.append(f"{count} × wait_next()")
    trial.expect(ticks[-1], float(count), f"tick {count}")
    trial.expect(ticks == [float(k) for k in range(1, count + 1)], True, "each tick on the grid")


@promise(TICKING, "no-rounding-adds-up", "wait_next")
def _rounding(trial: Trial) -> None:
    """At a clock of 1e9 and an interval of 1/3 the ticks are as exact as two float operations make them."""
    count = max(100, min(3000, trial.steps))
    rig = trial.begin(1 / 3, now=1e9)
    ticks = rig.calls("wait_next", count)
    trial.log.append(f"{count} × wait_next()")
    worst = max(abs(Fraction(tick) - Fraction(10**9) - k * Fraction(1, 3)) for k, tick in enumerate(ticks, 1))
    if worst > Fraction(1, 4_000_000):
        raise Broken(trial.told(f"a tick is {float(worst):.3g} s off the grid"))


@promise(TICKING, "fractions-stay-exact", "wait_next clock sleep capacity")
def _fractions(trial: Trial) -> None:
    """With an interval in fractions ticks are exact."""
    in_floats = is_awaited(trial.subject)  # a loop counts in nothing else
    rig = trial.begin(Fraction(1, 3), now=5.0 if in_floats else Fraction(5))
    ticks = [rig.call("wait_next") for _ in range(30)]
    worst = max(abs(Fraction(tick) - 5 - Fraction(k, 3)) for k, tick in enumerate(ticks, 1))
    if worst > (Fraction(1, 2**49) if in_floats else 0):
        raise Broken(trial.told(f"a tick is {float(worst):.3g} s off the grid"))


@promise(TICKING, "never-early", "wait_next")
def _early(trial: Trial) -> None:
    """No tick is returned before the clock has reached it."""
    trial.begin(0.1, now=1e9)
    random = trial.random
    for came, tick in _taken(trial, [random.choice((0, 0.01, 0.1, 0.25)) for _ in range(60)]):
        if came < tick:
            raise Broken(trial.told(f"tick {tick!r} came at {came!r}"))


@promise(TICKING, "oldest-are-kept", "wait_next capacity dropped")
def _old(trial: Trial) -> None:
    """After a delay at most `capacity` old ticks are there, the oldest, each at once; the others are counted."""
    for _ in range(max(4, trial.steps // 60)):
        capacity = trial.random.choice((1, 1, 2, 3, 10))
        origin = trial.random.choice((0.0, 100.0, 1e9))
        rig = trial.begin(1.0, now=origin, capacity=capacity)
        model = TickerModel(origin, 1.0, capacity)
        for _ in range(12):
            work = trial.random.choice((0, 0, 0.2, 0.5, 1.0, 1.5, 3.7, 12.0))
            start = rig.clock() + work
            taken = _taken(trial, [work])[0]
            trial.expect(taken, model.wait_next(start), "(came back, tick)")
            trial.expect(rig.get("dropped"), model.dropped, "dropped")


@promise(TICKING, "stall-keeps-phase", "wait_next")
def _stall(trial: Trial) -> None:
    """After one long stall the grid is still t0 + k * interval."""
    trial.begin(1.0, now=0.0)
    ticks = [tick for _, tick in _taken(trial, [0, 2.7, 0, 0, 0])]
    trial.expect([tick == round(tick) for tick in ticks], [True] * 5, f"{ticks}: on the grid")


@promise(TICKING, "no-burst-of-old-ticks", "wait_next")
def _burst(trial: Trial) -> None:
    """After a long stall at most one tick, the default capacity, comes at once."""
    trial.begin(1.0, now=0.0)
    _taken(trial, [0])
    late = [came for came, _ in _taken(trial, [9.5, 0, 0])]
    trial.expect(late[1] > late[0], True, f"went on at {late}: the second waited")


@promise(TICKING, "clock-back-repeats-nothing", "wait_next clock sleep")
def _clock_back(trial: Trial) -> None:
    """When the clock goes back, no tick comes twice and none comes early."""
    rig = trial.begin(1.0, now=10.0)
    ticks = [trial.call("wait_next") for _ in range(2)]
    rig.step_clock(-1.5)
    trial.log.append("the clock goes back by 1.5 s")
    for _ in range(2):
        ticks.append(trial.call("wait_next"))
        if rig.clock() < ticks[-1]:
            raise Broken(trial.told(f"tick {ticks[-1]!r} came at {rig.clock()!r}"))
    trial.expect(ticks, [11.0, 12.0, 13.0, 14.0], "ticks")


@promise(TICKING, "one-tick-each-in-order", "wait_next clock sleep capacity")
def _several(trial: Trial) -> None:
    """Of several that wait, each gets one tick, the first that came the first."""
    trial.begin(1.0, now=0.0)
    waiting = [trial.enter("wait_next") for _ in range(3)]
    trial.at(5.0)
    trial.expect([(one.at, one.result) for one in waiting], [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], "(came back, tick)")


@promise(TICKING, "leaver-takes-no-tick", "wait_next clock sleep capacity")
def _leaver(trial: Trial) -> None:
    """One that is interrupted or cancelled while it waits takes no tick with it."""
    trial.begin(1.0, now=0.0)
    first, second = trial.enter("wait_next"), trial.enter("wait_next")
    trial.at(0.5)
    trial.leave(first, 1)
    trial.expect(first.done and first.error is not None, True, "the interrupted one has ended")
    trial.at(5.0)
    trial.expect((second.at, second.result), (1.0, 1.0), "the other one (came back, tick)")


@promise(TICKING, "close-ends-it", "wait_next close")
def _ends(trial: Trial) -> None:
    """After close() every call returns None at once; a second close() does nothing."""
    rig = trial.begin(1.0, now=0.0)
    trial.call("wait_next")
    trial.call("close")
    trial.call("close")
    for _ in range(2):
        trial.expect(trial.call("wait_next"), None, "after close()")
    trial.expect(rig.clock(), 1.0, "the time")


@promise(TICKING, "close-wakes-a-waiter", "wait_next close")
def _wakes(trial: Trial) -> None:
    """close() wakes all that wait, with None, at once."""
    trial.begin(3600.0, now=0.0)
    waiting = [trial.enter("wait_next") for _ in range(2)]
    trial.at(1.0)
    trial.call("close")
    trial.rig.settle()
    trial.expect([(one.done, one.result, one.error) for one in waiting], [(True, None, None)] * 2, "woken")


@promise(TICKING, "close-leaves-nothing", "wait_next close")
def _leaves_nothing(trial: Trial) -> None:
    """After close() no thread and no task is left."""
    trial.begin(1.0, now=0.0)
    trial.call("wait_next")
    trial.enter("wait_next")
    trial.call("close")
    trial.rig.settle()
    trial.expect(trial.rig.left(), [], "left")


@promise(TICKING, "settings-refused", "wait_next")
def _settings(trial: Trial) -> None:
    """An interval that is not positive and finite is a ValueError, what is no number a TypeError, at construction."""
    numbers: list[Any] = [0, -1, 0.0, -0.5, float("nan"), float("inf"), float("-inf")]
    others: list[Any] = ["5", None, True, [1]]
    for interval in [*numbers, *others]:
        kind = TypeError if interval in others and interval not in numbers else ValueError
        try:
            trial.begin(interval)
        except NotOffered as refused:
            if isinstance(refused.__cause__, kind):
                continue
            said = f"{type(refused.__cause__).__name__}: {refused.__cause__}"
            raise Broken(trial.told(f"expected {kind.__name__}, got {said}")) from refused
        raise Broken(trial.told(f"expected {kind.__name__}, got a ticker"))
