"""The levels of the wheel by themselves: the slot of each tick, what a move files anew, and what the check says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from queues.timer.ticks import HIGHEST
from queues.timer.wheel_levels import LEVELS, SLOTS, WheelLevels

MASKS, COUNT = "the masks are not those of the slots that have messages", "the count of the levels is wrong"


def levels_of(*ticks: float, at: int = 0) -> WheelLevels:
    """Levels at a tick, with a message of each tick: its whole part; the start is the tick itself."""
    levels = WheelLevels(lambda start: int(start // 1))
    levels.current = at
    for number, tick in enumerate(ticks):
        levels.file(int(tick), (tick, number))
    return levels


def shape(levels: WheelLevels) -> dict[int, list[Any]]:
    """The starts in each slot, in the order of the slots."""
    assert levels.wrong() == []
    assert levels.count == sum(map(len, levels.slots.values()))
    assert list(levels) == [levels.slots[key] for key in sorted(levels.slots)]
    return {key: [item[0] for item in levels.slots[key]] for key in sorted(levels.slots)}


def test_new_levels_are_empty_and_stand_at_the_first_tick() -> None:
    levels = WheelLevels(int)
    assert (levels.current, levels.count, levels.refiled) == (0, 0, 0)
    assert (levels.masks, levels.slots, levels.wrong(), levels.items()) == ([0] * LEVELS, {}, [], [])
    assert list(levels) == []


@pytest.mark.parametrize(
    ("at", "tick", "level", "digit"),
    [
        (0, 1, 0, 1),
        (0, 63, 0, 63),
        (0, 64, 1, 1),
        (0, 127, 1, 1),
        (0, 4_095, 1, 63),
        (0, 4_096, 2, 1),
        (62, 63, 0, 63),
        (63, 64, 1, 1),
        (64, 127, 0, 63),
        (65, 128, 1, 2),
        (4_095, 4_096, 2, 1),
        (4_096, 4_097, 0, 1),
        (4_100, 4_200, 1, 1),
        (HIGHEST - 2, HIGHEST - 1, 0, 63),
        (0, HIGHEST - 1, 8, 7),
        (HIGHEST // 2 - 1, HIGHEST // 2, 8, 4),
    ],
)
def test_a_tick_is_filed_by_the_highest_digit_that_differs(at: int, tick: int, level: int, digit: int) -> None:
    levels = levels_of(tick, tick, at=at)
    assert levels.key(tick) == level * SLOTS + digit
    assert shape(levels) == {level * SLOTS + digit: [tick, tick]}
    assert levels.masks == [1 << digit if each == level else 0 for each in range(LEVELS)]
    assert levels.earliest() == tick
    assert levels.advance(tick) == [(tick, 0), (tick, 1)]
    assert (levels.current, levels.count, levels.refiled, levels.masks) == (tick, 0, 0, [0] * LEVELS)
    assert levels.slots == {}


TICKS = (1, 5, 63, 64, 70, 127, 128, 4_095, 4_096, 4_170, 300_000)


@pytest.mark.parametrize(
    "tick", [1, 2, 62, 63, 64, 65, 69, 70, 71, 128, 4_000, 4_095, 4_096, 4_097, 4_170, 5_000, 10**6]
)
def test_a_move_takes_all_up_to_its_tick_in_order_and_leaves_the_rest_in_its_slots(tick: int) -> None:
    levels = levels_of(*reversed(TICKS))
    assert [item[0] for item in levels.advance(tick)] == [known for known in TICKS if known <= tick]
    assert sorted(start for slot in shape(levels).values() for start in slot) == [
        known for known in TICKS if known > tick
    ]
    assert [item[0] for item in levels.items()] == [known for known in TICKS if known > tick]
    assert levels.current == tick


def test_a_move_files_anew_only_what_is_in_the_slot_of_its_tick_and_later() -> None:
    levels = levels_of(4_096, 4_100, 4_101, 4_160, 8_192, 3)
    assert shape(levels) == {3: [3], 2 * SLOTS + 1: [4_096, 4_100, 4_101, 4_160], 2 * SLOTS + 2: [8_192]}
    assert levels.advance(4_100) == [(3, 5), (4_096, 0), (4_100, 1)]
    assert shape(levels) == {5: [4_101], SLOTS + 1: [4_160], 2 * SLOTS + 2: [8_192]}
    assert levels.refiled == 2
    assert levels.advance(4_150) == [(4_101, 2)]
    assert levels.refiled == 2
    assert levels.advance(4_159) == []
    assert levels.advance(8_000) == [(4_160, 3)]
    assert (shape(levels), levels.refiled) == ({2 * SLOTS + 2: [8_192]}, 2)


class Mute:
    """A payload that cannot be ordered."""


def test_equal_starts_stay_in_the_order_of_arrival_and_no_payload_is_compared() -> None:
    payloads = [Mute() for _ in range(4)]
    levels = levels_of()
    for start, payload in zip((70.5, 70.25, 70.5, 70.25), payloads, strict=True):
        levels.file(70, (start, payload))
    ordered = [payloads[place] for place in (1, 3, 0, 2)]
    assert levels.earliest() == 70.25
    assert [payload for _, payload in levels.items()] == ordered
    assert [payload for _, payload in levels.advance(70)] == ordered


def test_what_is_put_back_goes_in_front_of_its_slots() -> None:
    levels = levels_of(5, 64, 70, 4_096)
    back = (5, 6, 64, 65, 128, 4_097, 4_098, 4_099)
    levels.file_in_front([(tick, "back") for tick in back])
    assert shape(levels) == {
        5: [5, 5],
        6: [6],
        SLOTS + 1: [64, 65, 64, 70],
        SLOTS + 2: [128],
        2 * SLOTS + 1: [4_097, 4_098, 4_099, 4_096],
    }
    assert levels.slots[5] == [(5, "back"), (5, 0)]
    assert (levels.count, levels.refiled) == (12, 0)
    levels.file_in_front([])
    assert levels.count == 12
    levels.file_in_front([(9, "alone")])
    assert shape(levels)[9] == [9]


def test_what_is_cancelled_is_the_first_that_matches_and_its_empty_slot_goes() -> None:
    levels = levels_of(5, 64, 64, 70, 70.5, 4_096, at=2)
    assert levels.cancel(64, lambda number: number == 2) == ((64, 2), 1)
    assert levels.cancel(70, None) == ((70, 3), 1)
    assert levels.cancel(70, None) == (None, 2)
    assert levels.cancel(64.5, None) == (None, 2)
    assert levels.cancel(70.5, lambda number: False) == (None, 2)
    assert shape(levels) == {5: [5], SLOTS + 1: [64, 70.5], 2 * SLOTS + 1: [4_096]}
    for start, number in ((64, 1), (70.5, 4)):
        assert levels.cancel(start, None) == ((start, number), 0)
        assert levels.wrong() == []
    assert shape(levels) == {5: [5], 2 * SLOTS + 1: [4_096]}
    assert (levels.masks[1], levels.count) == (0, 2)


@pytest.mark.parametrize("start", [0, 1, 2, 2.5, HIGHEST, 2 * HIGHEST, 3, 9_000])
def test_what_no_slot_can_have_or_none_has_is_not_found_and_passes_nothing(start: float) -> None:
    levels = levels_of(5, 64, at=2)
    tick_of = levels.tick_of
    levels.tick_of = lambda start: min(tick_of(start), HIGHEST)
    assert levels.cancel(start, None) == (None, 0)
    assert levels.wrong() == []


def test_the_objects_of_the_levels_are_its_lists_and_every_slot() -> None:
    levels = levels_of(5, 64)
    parts = (levels, levels.masks, levels.slots, levels.slots[5], levels.slots[SLOTS + 1])
    assert [id(part) for part in levels.objects()] == [id(part) for part in parts]


def clear_slot(levels: WheelLevels) -> None:
    levels.slots[5].clear()
    levels.count -= 1


def put(levels: WheelLevels, key: int, tick: int) -> None:
    """A message of a tick in a slot, with its bit and its count."""
    levels.slots[key] = [*levels.slots.get(key, []), (tick, "put")]
    levels.masks[key // SLOTS] |= 1 << key % SLOTS
    levels.count += 1


HIGH = 8 * SLOTS + 8  # the slot that HIGHEST would have
DAMAGE: list[tuple[list[str], Callable[[WheelLevels], object]]] = [
    ([], lambda levels: None),
    ([], lambda levels: put(levels, 6, 6)),
    ([MASKS], lambda levels: levels.masks.__setitem__(2, 1)),
    ([MASKS], lambda levels: levels.masks.__setitem__(0, 0)),
    ([MASKS], lambda levels: levels.masks.__setitem__(0, (1 << 5) + (1 << 63))),
    ([MASKS], lambda levels: clear_slot(levels)),
    ([COUNT], lambda levels: setattr(levels, "count", 1)),
    ([COUNT], lambda levels: setattr(levels, "count", 4)),
    (["slot 6 holds ticks [7] at 1"], lambda levels: put(levels, 6, 7)),
    (["slot 5 holds ticks [5, 70] at 1"], lambda levels: put(levels, 5, 70)),
    (["slot 1 holds ticks [1] at 1"], lambda levels: put(levels, 1, 1)),
    (["slot 5 holds ticks [5, 0] at 1"], lambda levels: put(levels, 5, 0)),
    ([f"slot {HIGH} holds ticks [{HIGHEST}] at 1"], lambda levels: put(levels, HIGH, HIGHEST)),
    (["slot 5 holds ticks [5] at 5"], lambda levels: setattr(levels, "current", 5)),
]


@pytest.mark.parametrize(("words", "damage"), DAMAGE, ids=[f"{at}" for at in range(len(DAMAGE))])
def test_the_check_of_the_levels_says_all_that_is_wrong(
    words: list[str], damage: Callable[[WheelLevels], object]
) -> None:
    levels = levels_of(5, 64, at=1)
    damage(levels)
    assert levels.wrong() == words
