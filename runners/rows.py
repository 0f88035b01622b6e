"""What a process has left, as columns of the table of executions; pure functions, one for each part of a result."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

GENERATIONS = 3  # of the collector, as many as the table has columns for

NULL_SHARE = 0.8
"""A call below this share of the null call's p50 cannot have done its work (drift of the clock is far smaller)."""


def impossible(columns: Mapping[str, Any]) -> bool:
    """Return whether an operation took so much less than the null call that it cannot have done its work.

    >>> impossible({"p50_ns": 79, "null_p50_ns": 100}), impossible({"p50_ns": 80, "null_p50_ns": 100})
    (True, False)
    """
    null_p50_ns = columns.get("null_p50_ns")
    return null_p50_ns is not None and columns["p50_ns"] < NULL_SHARE * null_p50_ns


def counter_columns(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the counters of a result (`runners.counters`) and of what the queue counted itself.

    >>> counter_columns({"counters": {"steal_ticks": 3, "collections": [9, 1]}, "merged": 2})
    {'steal_ticks': 3, 'collections_0': 9, 'collections_1': 1, 'merged': 2}
    """
    counters = dict(result.get("counters") or {})
    collections = counters.pop("collections", None) or ()
    by_generation = {f"collections_{generation}": count for generation, count in enumerate(collections[:GENERATIONS])}
    return {**counters, **by_generation, **{name: result[name] for name in ("merged", "walked") if name in result}}


def memory_columns(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the part `memory` of a result, the points as two lists; none when it has no such part.

    >>> memory_columns({"memory": {"hwm_bytes": 5, "points": [[10, 4], [20, 5]]}})
    {'hwm_bytes': 5, 'points_messages': [10, 20], 'points_rss_bytes': [4, 5]}
    """
    memory = dict(result.get("memory") or {})
    points = memory.pop("points", None)
    if points:
        memory["points_messages"] = [messages for messages, _ in points]
        memory["points_rss_bytes"] = [rss_bytes for _, rss_bytes in points]
    return memory


def figure_columns(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of what a result reports besides times: its figures, and its facts sorted by name.

    >>> figure_columns({"figures": {"dropped_ticks": 3}, "facts": {"version": "15.8", "fsync": "on"}})
    {'figure_names': ['dropped_ticks'], 'figure_values': [3.0], 'facts': ['fsync=on', 'version=15.8']}
    """
    columns: dict[str, Any] = {}
    if figures := result.get("figures"):
        columns["figure_names"] = list(figures)
        columns["figure_values"] = [float(value) for value in figures.values()]
    if facts := result.get("facts"):
        columns["facts"] = sorted(f"{name}={text}" for name, text in facts.items())
    return columns


def cost_columns(cost: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of what `runners.cost.read_cost` has read: the values of pyperf, and the counters beside."""
    values_ns = sorted(cost["values_ns"])
    return {
        "loops": cost["loops"],
        "n": len(values_ns),
        "mean_ns": cost["mean_ns"],
        "min_ns": values_ns[0],
        "max_ns": values_ns[-1],
        "p50_ns": float(median(values_ns)),
        **counter_columns(cost),
    }


def complexity_columns(method: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of one method that `runners.complexity` has counted."""
    return {
        "operation": method["method"],
        "statements": method["statements"],
        "branches": method["branches"],
        "index_operations": method["index_operations"],
    }
