"""What a process has left becomes columns that the table has."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from lab.record import COLUMNS, EXECUTIONS
from runners.counters import Counters
from runners.memory import Gauge
from runners.rows import complexity_columns, cost_columns, counter_columns, figure_columns, memory_columns

NAMES = {column.name for column in COLUMNS[EXECUTIONS]}


@pytest.mark.parametrize("name", ["rows", "disturbed", "allocations"])
def test_the_examples_of_a_module_run(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"runners.{name}"))
    assert failed == 0
    assert tried > 0


def test_every_counter_has_a_column() -> None:
    found = counter_columns({"counters": Counters().since(), "merged": 1, "walked": None})
    assert set(found) <= NAMES
    assert {"collections_0", "collections_2", "frequency_mhz", "counted_ns", "merged", "walked"} <= set(found)
    assert counter_columns({}) == {}
    assert "collections_3" not in counter_columns({"counters": {"collections": [1, 2, 3, 4]}})


def test_everything_that_a_gauge_reads_has_a_column() -> None:
    gauge = Gauge()
    gauge.begin()
    gauge.end("fill")
    gauge.begin()
    gauge.end("drain")
    gauge.note(3)
    found = memory_columns({"memory": gauge.figures()})
    assert set(found) <= NAMES
    assert {"fill_peak_bytes", "drain_peak_bytes", "hwm_bytes", "rss_before_bytes"} <= set(found)
    assert memory_columns({}) == {}


def test_figures_and_facts_have_columns_and_only_where_there_are_some() -> None:
    found = figure_columns({"figures": {"wakes": 2}, "facts": {"b": "2", "a": "1"}})
    assert found == {"figure_names": ["wakes"], "figure_values": [2.0], "facts": ["a=1", "b=2"]}
    assert set(found) <= NAMES
    assert figure_columns({"figures": {}, "facts": {}}) == figure_columns({}) == {}


def test_the_values_of_pyperf_are_summed_up_and_bring_their_counters() -> None:
    cost = {"loops": 4, "values_ns": [30.0, 10.0, 20.0], "mean_ns": 20.0, "counters": {"steal_ticks": 2}}
    found = cost_columns(cost)
    assert found == {
        "loops": 4,
        "n": 3,
        "mean_ns": 20.0,
        "min_ns": 10.0,
        "max_ns": 30.0,
        "p50_ns": 20.0,
        "steal_ticks": 2,
    }
    assert set(found) <= NAMES


def test_a_method_is_its_operation() -> None:
    counted = {"method": "take", "statements": 5, "branches": 2, "index_operations": 1}
    found = complexity_columns(counted)
    assert found == {"operation": "take", "statements": 5, "branches": 2, "index_operations": 1}
