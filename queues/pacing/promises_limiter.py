"""What a rate limiter promises about permits; those who wait have a chapter of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import nextafter
from typing import Any

from queues.pacing.model import LimiterModel
from queues.pacing.trial import Ask, Broken, NotOffered, Promise, Trial, ask, each_setting, excess, promise, smallest

INFINITY = float("inf")
SETTINGS = ((1, 1), (1, 5), (10, 10), (2, 4), (0.3, 3), (7.0, 2))
"""(rate, burst) of the checks with random schedules; some peers can do only those where burst / rate is whole."""
PERMITS: list[Promise] = []


def _schedule(trial: Trial, rate: Any, burst: int) -> list[Ask]:
    """Spans near those in which a permit or a burst flows in, each asked for greedily or once.

    Every third is the trap for whoever counts in windows: one permit, nearly a window of silence, all that is left of
    it, and all of the next.
    """
    random = trial.random
    if random.randrange(3) == 0:
        edge = random.choice((0.1, 0.01, 0.0009)) * burst / rate
        many: list[Ask] = [(0, 1)] * burst
        return [(random.choice((0.0, 0.0009)), 1), (burst / rate - edge, 1), *many, (edge, 1), *many]
    asks: list[Ask] = []
    for _ in range(random.randint(3, 12)):
        whole = random.choice((0, 1, 1, 2, burst, burst - 1)) / rate
        span = max(0.0, whole + random.choice((0.0, 0.0, 0.1, -0.1, 0.5, -0.0009, 0.0009)) / rate)
        asks += [(span, random.choice((1, 1, 1, burst)))]
        asks += [(0, 1)] * random.choice((0, 0, 1, burst, burst + 1))
    return asks


def _search(trial: Trial, wrong: Callable[[tuple[Any, ...], Sequence[Ask]], str]) -> None:
    """Play random schedules; break the promise with the smallest one that is `wrong`, which says how."""
    for setting in each_setting(trial, SETTINGS):
        for _ in range(max(3, trial.steps // 30)):
            asks = _schedule(trial, *setting)
            if not wrong(setting, asks):
                continue
            found = smallest(asks, lambda fewer, setting=setting: bool(wrong(setting, fewer)))  # type: ignore[misc]
            raise Broken(trial.told(wrong(setting, found)))


def _over(trial: Trial, least: float, setting: tuple[Any, ...], asks: Sequence[Ask]) -> str:
    rate, burst = setting
    return excess(ask(trial, setting, asks), rate, burst, least)


@promise(PERMITS, "bound", "try_acquire")
def _bound(trial: Trial) -> None:
    """In every span T at most burst + rate * T permits are granted."""
    for least in (1e-4, 0.0):  # first what anybody would notice, then every bit
        _search(trial, partial(_over, trial, least))


@promise(PERMITS, "nothing-lost", "try_acquire")
def _nothing_lost(trial: Trial) -> None:
    """What a bucket that burst permits fit in and rate flow into holds is granted."""

    def wrong(setting: tuple[Any, ...], asks: Sequence[Ask]) -> str:
        model = LimiterModel(setting[0], setting[1], 0.0)
        for instant, n, granted in ask(trial, setting, asks):
            model.pass_until(instant)
            held = float(model.level)
            if not granted and model.try_acquire(n):
                return f"refused with {held:.9g} in the bucket"
            if granted:
                model.level = max(model.level - n, model.level * 0)
        return ""

    _search(trial, wrong)


@promise(PERMITS, "starts-full", "try_acquire")
def _starts_full(trial: Trial) -> None:
    """The burst is granted at once, and no more."""
    for _, burst in each_setting(trial, ((1, 5), (10, 10))):
        granted = [trial.call("try_acquire") for _ in range(burst + 1)]
        trial.expect(granted, [True] * burst + [False], "granted at the start")


@promise(PERMITS, "idle-is-capped", "try_acquire")
def _idle_is_capped(trial: Trial) -> None:
    """However long nobody asks, no more than the burst is saved up."""
    for rate, burst in each_setting(trial, ((1, 1), (1, 5), (10, 10))):
        for _ in range(burst):
            trial.call("try_acquire")
        trial.at(100.0 * burst / rate)
        granted = [trial.call("try_acquire") for _ in range(burst + 1)]
        trial.expect(granted, [True] * burst + [False], "granted after the silence")


@promise(PERMITS, "refusal-changes-nothing", "try_acquire")
def _refusal_changes_nothing(trial: Trial) -> None:
    """Asking in vain, however often, does not put off the next permit."""
    for setting in each_setting(trial, ((1, 1), (1, 5), (10, 10))):
        rate, burst = setting
        drain: list[Ask] = [(0, 1)] * burst
        lazy = ask(trial, setting, [*drain, (1.25 * burst / rate, 1)])
        eager = ask(trial, setting, [*drain, *[(0.05 * burst / rate, 1)] * 25])
        if lazy[-1][2] and not any(granted for _, _, granted in eager[burst:]):
            raise Broken(trial.told("one who asked only at the end was granted it"))


@promise(PERMITS, "high-rate-late-clock", "try_acquire")
def _high_rate(trial: Trial) -> None:
    """A million a second at a clock of 1e9 is a million a second: errors do not add up."""
    rate, burst, now = 1_000_000, 1000, 1e9
    asks: list[Ask] = [(0, burst), *[(0.0009, 800), (0, 50), *[(0, 1)] * 60] * 40]
    answers = ask(trial, (rate, burst), asks, now)
    said = excess(answers, rate, burst)
    if said:
        raise Broken(trial.told(said))
    total = sum(n for _, n, granted in answers if granted)
    passed = answers[-1][0] - now
    least = burst + int(rate * passed) - 1
    if total < least:
        raise Broken(trial.told(f"{total} granted in {passed:.9g} s: expected at least {least}"))


@promise(PERMITS, "slow-rate", "try_acquire")
def _slow_rate(trial: Trial) -> None:
    """One an hour comes after an hour, not before, a hundred times in a row."""
    rate = 1 / 3600
    answers = ask(trial, (rate, 1), [(0, 1)] + [(3599.0, 1), (1.5, 1)] * 100)
    trial.expect([granted for _, _, granted in answers], [True] + [False, True] * 100, "granted")


@promise(PERMITS, "zero-is-granted", "try_acquire")
def _zero(trial: Trial) -> None:
    """n = 0 is granted, also from an empty bucket, and costs nothing."""
    for _, burst in each_setting(trial, ((1, 5),)):
        granted = [trial.call("try_acquire", n) for n in (0, burst, 0, 1)]
        trial.expect(granted, [True, True, True, False], "granted")


@promise(PERMITS, "too-many-refused", "try_acquire")
def _too_many(trial: Trial) -> None:
    """n > burst, which would never be granted, and n < 0 are a ValueError at once and change nothing."""
    for _, burst in each_setting(trial, ((1, 5),)):
        for n in (burst + 1, 10**6, -1):
            trial.refused((ValueError,), "try_acquire", n)
            if "acquire" in trial.offer:
                trial.refused((ValueError,), "acquire", n)
        trial.expect(trial.call("try_acquire", burst), True, "the burst after it")


@promise(PERMITS, "rate-zero", "try_acquire")
def _rate_zero(trial: Trial) -> None:
    """Rate 0 grants the first burst, then never."""
    answers = ask(trial, (0, 2), [(0, 1), (0, 1), (0, 1), (1e6, 1), (1e9, 1)])
    trial.expect([granted for _, _, granted in answers], [True, True, False, False, False], "granted")
    if "wait_time" in trial.offer:
        trial.expect(trial.call("wait_time", 1), INFINITY, "wait_time")


@promise(PERMITS, "rate-infinite", "try_acquire")
def _rate_infinite(trial: Trial) -> None:
    """Rate inf grants always."""
    answers = ask(trial, (INFINITY, 2), [(0, 2)] * 100)
    trial.expect(all(granted for _, _, granted in answers), True, "all granted")


@promise(PERMITS, "settings-refused", "try_acquire")
def _settings(trial: Trial) -> None:
    """A rate below 0 or NaN and a burst below 1 are a ValueError, what is no number a TypeError, at construction."""
    for settings, kind in (
        ((-1, 1), ValueError),
        ((float("nan"), 1), ValueError),
        ((-INFINITY, 1), ValueError),
        ((1, 0), ValueError),
        ((1, -5), ValueError),
        (("5", 1), TypeError),
        ((None, 1), TypeError),
        ((1, "5"), TypeError),
    ):
        try:
            trial.begin(*settings)
        except NotOffered as refused:
            if not isinstance(refused.__cause__, kind):
                said = f"{type(refused.__cause__).__name__}: {refused.__cause__}"
                raise Broken(trial.told(f"expected {kind.__name__}, got {said}")) from refused
            continue
        raise Broken(trial.told(f"expected {kind.__name__}, got a limiter"))


@promise(PERMITS, "clock-back", "clock try_acquire")
def _clock_back(trial: Trial) -> None:
    """A clock that goes back takes no permit away and brings none, and the next flow in from there on."""
    for rate, burst in each_setting(trial, ((1, 5), (10, 10))):
        rig = trial.begin(rate, burst, now=100.0)
        for _ in range(3):
            trial.call("try_acquire")
        rig.step_clock(-11.0)
        trial.log.append("the clock goes from 100.0 to 89.0")
        granted = [trial.call("try_acquire") for _ in range(burst - 2)]
        trial.expect(granted, [True] * (burst - 3) + [False], "what the bucket held is granted")
        trial.at(100.0 + burst / rate + 1)
        granted = [trial.call("try_acquire") for _ in range(burst)]
        trial.expect(granted, [True] * burst, "granted when a burst has flowed in")


@promise(PERMITS, "wait-time-exact", "try_acquire wait_time")
def _wait_time(trial: Trial) -> None:
    """After exactly wait_time the permits are granted, and not before."""
    for rate, burst, now in ((3, 2, 0.0), (1 / 3600, 1, 1e9), (1_000_000, 10, 1e9), (0.7, 4, 12345.678)):
        rig = trial.begin(rate, burst, now=now)
        trial.call("try_acquire", burst)
        for n in (1, burst, 1):
            instant = rig.clock() + trial.call("wait_time", n)
            before = nextafter(instant, 0)
            if before > rig.clock():
                trial.at(before)
                trial.expect(trial.call("try_acquire", n), False, "granted before")
            trial.at(instant)
            trial.expect(trial.call("try_acquire", n), True, "granted then")
