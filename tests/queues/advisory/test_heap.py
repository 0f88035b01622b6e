"""The heap: work and memory counted, not timed; and what is hard to see in a schedule."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from fractions import Fraction
from math import log2
from typing import Any

import pytest

from queues.advisory import heap as heap_module
from queues.advisory.heap import SLACK, Heap
from queues.advisory.sorted_each_call import SortedEachCall
from queues.registry import SUBJECTS, load

COMPARED = [0]


class Counting(Fraction):
    """A number that counts how often it is compared for order."""

    def __lt__(self, other: Any) -> bool:
        COMPARED[0] += 1
        return super().__lt__(other)


@pytest.fixture(params=SUBJECTS["advisory"])
def scheduler_class(request: pytest.FixtureRequest) -> Any:
    return load("advisory", request.param)


def settled(scheduler_class: Any, count: int, period: Any = 1000) -> Any:
    """Return a scheduler whose jobs have all run, one after the other."""
    scheduler = scheduler_class()
    for number in range(count):
        scheduler.add(number, period)
    for number in range(count):
        scheduler.next_job(Fraction(number * 1000, count))
    return scheduler


class Calls:
    """Counts the calls of the functions of `heapq` that the heap uses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = {"heappush": 0, "heappop": 0, "heapreplace": 0, "heapify": 0}
        for name in self.count:
            monkeypatch.setattr(heap_module, name, self.counted(name, getattr(heap_module, name)))

    def counted(self, name: str, function: Any) -> Any:
        def call(*given: Any) -> Any:
            self.count[name] += 1
            return function(*given)

        return call

    def take(self) -> dict[str, int]:
        found, self.count = self.count, dict.fromkeys(self.count, 0)
        return {name: times for name, times in found.items() if times}


def test_next_job_is_one_replacement_and_the_other_calls_one_push(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = settled(Heap, 200)
    calls = Calls(monkeypatch)
    for now in range(1000, 3000, 10):
        scheduler.next_job(now)
    assert calls.take() == {"heapreplace": 200}
    scheduler.add("new", 10)
    assert calls.take() == {"heappush": 1}
    scheduler.update_period("new", 20)  # it never ran, so it stays where it is
    assert calls.take() == {}
    scheduler.update_period(7, 2000)
    assert calls.take() == {"heappush": 1}
    scheduler.update_period(7, 2000)
    assert calls.take() == {}
    scheduler.remove(7)
    assert calls.take() == {}


@pytest.mark.parametrize("count", [10, 100, 1000, 10_000])
def test_next_job_compares_along_one_path(count: int) -> None:
    scheduler = settled(Heap, count, Counting(1000))
    for job in scheduler._jobs.values():
        job.next_run = Counting(job.next_run)
    scheduler._all_moved()
    most = 0
    for round_ in range(50):
        COMPARED[0] = 0
        scheduler.next_job(Fraction(1000 + round_))
        most = max(most, COMPARED[0])
    assert 0 < most <= 2 * log2(count) + 6


def test_sorting_compares_every_job() -> None:
    scheduler = settled(SortedEachCall, 500)
    for job in scheduler._jobs.values():
        job.next_run = Counting(job.next_run)
    COMPARED[0] = 0
    scheduler.next_job(1000)
    assert COMPARED[0] >= 499


def entries(scheduler: Heap) -> int:
    return len(scheduler._heap)


def test_polling_an_idle_schedule_grows_nothing() -> None:
    scheduler = settled(Heap, 50)
    for _ in range(50):
        scheduler.next_job(1000)
    size, room = entries(scheduler), sum(map(sys.getsizeof, scheduler.container()))
    data = [scheduler.job_data(number) for number in range(50)]
    for _ in range(20_000):
        scheduler.next_job(1000)
    assert (entries(scheduler), sum(map(sys.getsizeof, scheduler.container()))) == (size, room)
    assert [scheduler.job_data(number) for number in range(50)] == data
    scheduler.check()


@pytest.mark.parametrize("way", ["update", "replace", "update and poll", "all"])
def test_churn_keeps_at_most_as_many_dead_entries_as_jobs_and_some(way: str) -> None:
    scheduler = settled(Heap, 10)
    most = 0
    for number in range(20_000):
        name = number % 10
        if way != "replace":
            scheduler.update_period(name, 1000 + number % 7)
        if way in ("replace", "all"):
            scheduler.remove(name)
            scheduler.add(name, 1000)
        if way in ("update and poll", "all"):
            scheduler.next_job(1000)
        most = max(most, entries(scheduler))
    assert most <= 2 * 10 + SLACK
    scheduler.check()


def test_purging_is_rare_enough_to_be_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = settled(Heap, 1000)
    calls = Calls(monkeypatch)
    for number in range(10_000):
        scheduler.update_period(number % 1000, 1000 + number % 13)
    assert calls.take().get("heapify", 0) <= 10_000 / 1000


def test_removing_all_leaves_nothing() -> None:
    scheduler = settled(Heap, 1000)
    for number in range(1000):
        scheduler.remove(number)
    assert entries(scheduler) == 0
    scheduler.add("a", 10)
    assert scheduler.next_job(5000) == ("a", 0, None)
    scheduler.check()


def test_check_finds_every_kind_of_damage() -> None:
    def damaged(damage: Any, words: str) -> None:
        scheduler = settled(Heap, 5)
        scheduler.update_period(4, 2000)
        damage(scheduler)
        with pytest.raises(AssertionError, match=words):
            scheduler.check()

    damaged(lambda scheduler: scheduler._heap.reverse(), "a child comes before its parent")
    damaged(lambda scheduler: scheduler._heap.pop(), "live entries for 5 jobs|entries are dead")
    damaged(lambda scheduler: setattr(scheduler._jobs[0], "next_run", 7), "is not the key of its job")
    damaged(lambda scheduler: setattr(scheduler._jobs[0], "job_id", 7), "under another id")
    damaged(lambda scheduler: setattr(scheduler, "_dead", 0), "entries are dead, not 0")
    damaged(lambda scheduler: setattr(scheduler, "_dead", 99), "a purge is due")
    damaged(lambda scheduler: setattr(scheduler._heap[0][4], "entry", 0), "the top is dead")
    table = settled(SortedEachCall, 2)
    table._jobs[0].job_id = 5
    with pytest.raises(AssertionError, match="jobs under another id"):
        table.check()


# What holds for both


class Thing:
    """Something that can be asked whether it is still there."""


def test_dropping_a_scheduler_frees_all_of_it_without_the_collector(scheduler_class: Any) -> None:
    scheduler = scheduler_class(clock=lambda: 0)
    things = [Thing() for _ in range(5)]
    for number, thing in enumerate(things):
        scheduler.add(number, 10, thing)
    scheduler.next_job(0)
    scheduler.update_period(0, 20)
    references = [weakref.ref(scheduler), *map(weakref.ref, things)]
    gc.disable()
    try:
        del scheduler, things, thing
        assert [reference() for reference in references] == [None] * 6
    finally:
        gc.enable()


def test_a_clock_may_call_the_scheduler(scheduler_class: Any) -> None:
    def clock() -> int:
        if not busy:
            busy.append(True)
            scheduler.add("from the clock", 10)
            scheduler.next_job(100)
            scheduler.remove("a")
            busy.clear()
        return 100

    busy: list[bool] = []
    scheduler = scheduler_class(clock=clock, auto_spread=False)
    scheduler.add("a", 10)
    assert scheduler.next_job() == ("from the clock", 0, None)
    scheduler.check()


def test_a_clock_that_adds_the_very_job_is_found_out(scheduler_class: Any) -> None:
    def clock() -> int:
        if not busy:
            busy.append(True)
            scheduler.add("a", 20)
        return 100

    busy: list[bool] = []
    scheduler = scheduler_class(clock=clock, auto_spread=True)
    with pytest.raises(ValueError, match="job 'a' is there already"):
        scheduler.add("a", 10)
    assert scheduler.job_data("a")[2] == 20
    scheduler.check()


def test_a_number_that_fails_while_jobs_are_spread_leaves_everything(scheduler_class: Any) -> None:
    class Fails(Fraction):
        def __mul__(self, other: Any) -> Any:
            raise RuntimeError("no product")

    def changes() -> Iterator[Any]:
        yield lambda: scheduler.add("new", Fails(9))  # the shortest of its cluster: its parts are asked for
        yield lambda: scheduler.update_period("a", Fails(9))
        scheduler._jobs["c"].period = Fails(19)
        yield lambda: scheduler.remove("a")
        yield lambda: scheduler.spread(5)

    scheduler = scheduler_class(auto_spread=True, clock=lambda: 7)
    for name, period in zip("abcd", (10, 10, 20, 20), strict=True):
        scheduler.add(name, period)
    for change in changes():
        before = [scheduler.job_data(name) for name in scheduler.all_jobs()]
        with pytest.raises(RuntimeError, match="no product"):
            change()
        assert scheduler.all_jobs() == list("abcd")
        assert [scheduler.job_data(name) for name in scheduler.all_jobs()] == before
        scheduler.check()


def test_a_clock_that_cannot_be_called_is_refused(scheduler_class: Any) -> None:
    with pytest.raises(TypeError, match="clock is 5: expected something to call"):
        scheduler_class(clock=5)


def test_equal_ids_are_one_id_as_in_a_dict(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    scheduler.add(1, 10)
    for same in (1.0, True, Fraction(1)):
        with pytest.raises(ValueError, match="is there already"):
            scheduler.add(same, 10)
        assert scheduler.job_data(same) == (0, 0, 10)
    scheduler.remove(True)
    assert scheduler.all_jobs() == []


def test_a_refusal_is_one_sentence(scheduler_class: Any) -> None:
    scheduler = scheduler_class()
    with pytest.raises(KeyError) as unknown:
        scheduler.remove("mail")
    assert str(unknown.value) == "no job 'mail': expected the id of a job that was added and not removed"
    with pytest.raises(LookupError) as empty:
        scheduler.next_job(0)
    assert not isinstance(empty.value, KeyError)
    assert str(empty.value) == "there is no job: add one before asking for the next"
