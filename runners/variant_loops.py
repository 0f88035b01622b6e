"""The ways of going through a chunk that runners/variants.py races: what a batch hands out must leave it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from typing import Any

INFINITY = float("inf")


def nothing(start: float, message: str) -> None:
    """The handler."""


def by_pop(items: list[Any], handler: Callable[..., object], clock: Callable[[], float]) -> None:
    """Kept: turned round once, each message popped when it is done."""
    items.reverse()
    pop = items.pop
    for item in reversed(items):
        if clock() >= INFINITY:
            return
        handler(*item)
        pop()


def by_starmap(items: list[Any], handler: Callable[..., object], clock: Callable[[], float]) -> None:
    """The handler called from C; the clock is then asked after a message, and not after the last."""
    items.reverse()
    pop = items.pop
    if clock() >= INFINITY:
        return
    for returned in starmap(handler, reversed(items)):
        del returned  # it is not ours to keep alive while the next message is handled
        pop()
        if items and clock() >= INFINITY:
            return


def by_pop_counting(items: list[Any], handler: Callable[..., object], clock: Callable[[], float]) -> None:
    """The same, counting as well."""
    items.reverse()
    pop = items.pop
    done = 0
    for item in reversed(items):
        if clock() >= INFINITY:
            return
        handler(*item)
        pop()
        done += 1  # noqa: SIM113 - that is the variant


def by_index(items: list[Any], handler: Callable[..., object], clock: Callable[[], float]) -> None:
    """As the array: an index, and used slots set to None."""
    at = 0
    while at < len(items):
        if clock() >= INFINITY:
            return
        handler(*items[at])
        items[at] = None
        at += 1


def by_letting_go(items: list[Any], handler: Callable[..., object], clock: Callable[[], float]) -> None:
    """The barest loop that lets go of what it hands out: it keeps no order, and a message that fails is lost."""
    pop = items.pop
    while items:
        if clock() >= INFINITY:
            return
        handler(*pop())


def bare(items: list[Any], handler: Callable[..., object], clock: Callable[[], float]) -> None:
    """Nothing released: the floor."""
    for item in items:
        if clock() >= INFINITY:
            return
        handler(*item)
