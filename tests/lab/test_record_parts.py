"""The parts that a table is made of and looked at by: columns, what a version added, values that are there or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lab import record
from lab.case import Case, execution_of
from lab.record import CALLS, CASES, COLUMNS, EXECUTIONS, Column, SchemaError, accept, calls_tables, table_of

EXECUTION = execution_of(Case.of("latency", "timer", "array", "cycle", due=10), 2, 1)


def row(**values: Any) -> dict[str, Any]:
    return {**record.execution_columns(EXECUTION), "operation": "take", "status": "ok", "message": "", **values}


def test_columns_of_one_kind_are_made_of_their_names_and_may_be_empty_unless_it_is_said() -> None:
    assert record._columns("int64", "ns", "first_ns last_ns") == [
        Column("first_ns", "int64", "ns", True),
        Column("last_ns", "int64", "ns", True),
    ]
    assert record._columns("string", "", "kind", nullable=False) == [Column("kind", "string", "", False)]


@pytest.mark.parametrize("table", [EXECUTIONS, CASES, CALLS])
@pytest.mark.parametrize("version", sorted(record.ADDED))
def test_a_migration_appends_the_columns_of_its_version_empty_and_of_their_type(version: int, table: str) -> None:
    added, whole = record.ADDED[version][table], record.schema(table)
    before = pa.table([pa.array(["a", "b"])], names=["of before"])
    after = record._with_added(table, version)(before)
    assert after.schema.names == ["of before", *added]
    assert [after.schema.field(name) for name in added] == [whole.field(name) for name in added]
    assert [after.column(name).to_pylist() for name in added] == [[None, None]] * len(added)
    assert after.column("of before").to_pylist() == ["a", "b"]


def test_a_part_of_a_row_with_figures_that_have_no_name_is_refused_in_a_whole_sentence() -> None:
    with pytest.raises(SchemaError, match=r"^row 0 has 2 figures for 1 names: expected one for each$"):
        record.require_columns({"figure_names": ["a_ns"], "figure_values": [1.0, 2.0]})


@pytest.mark.parametrize("type_", ["i1", "u1", "<i4", ">i4", "u4", "<i8", ">i8", "u8"])
def test_whole_numbers_of_every_width_and_order_are_calls(type_: str) -> None:
    (table,) = calls_tables({"take": np.array([0, 5, 127], type_)})
    assert table.schema == record.schema(CALLS)
    assert table.column("ns").to_pylist() == [0, 5, 127]


@pytest.mark.parametrize("type_", ["f8", "?", "m8[ns]", "M8[ns]", "c16", "O", "U1"])
def test_what_are_no_whole_numbers_are_no_calls(type_: str) -> None:
    with pytest.raises(ValueError, match=r"^calls of take of type .* and shape \(2,\): expected whole ns in a row$"):
        calls_tables({"take": np.array([1, 1]).astype(type_)})


def test_calls_keep_every_digit_however_long_they_took() -> None:
    longest = [2**53 + 1, 2**62 + 1, 2**63 - 1]
    (table,) = calls_tables({"take": longest})
    assert table.column("ns").to_pylist() == longest
    (table,) = calls_tables({"take": np.array(longest, ">i8")})
    assert table.column("ns").to_pylist() == longest


def in_place(name: str, values: Any) -> tuple[pa.Table, str]:
    """A table of a row for each of `values`, as a file could have it that this lab did not write, and which it is."""
    table = EXECUTIONS if name in record.schema().names else CASES
    given = {column.name: row(processes=5).get(column.name) for column in COLUMNS[table]}
    return replaced(table_of([given] * len(values), table), name, values), table


def replaced(table: pa.Table, name: str, values: Any) -> pa.Table:
    field = table.schema.field(name)
    return table.set_column(table.schema.names.index(name), field, pa.array(values, field.type))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", [None, None]),
        ("n", [None, 0]),
        ("mean_ns", [None, None]),
        ("mean_ns", [None, 0.0]),
        ("net_p50_ns", [-1.0, None]),
        ("worst_index", [[], None]),
        ("worst_index", [[None], []]),
        ("worst_ns", [[], []]),
        ("worst_ns", [[None, 3], None]),
        ("worst_cause", [[], ["growth"]]),
    ],
)
def test_a_file_may_leave_a_value_out_or_hold_a_list_of_none(name: str, values: list[Any]) -> None:
    stored, table = in_place(name, values)
    assert accept(stored, table).column(name).to_pylist() == values


def test_no_list_is_as_long_as_an_empty_one() -> None:
    stored, _ = in_place("figure_names", [None, [], None])
    assert accept(replaced(stored, "figure_values", [[], None, None])).num_rows == 3
    for names in ([None, ["a"]], [["a"], []], [None, ["a", "b"]]):
        with pytest.raises(SchemaError, match=r"^its columns 'figure_names' and 'figure_values' differ in length: exp"):
            accept(in_place("figure_names", names)[0])


def test_columns_of_a_case_are_there_as_text_and_once() -> None:
    found = record.execution_columns(EXECUTION)
    assert found["params"] == EXECUTION.case.params_text == "due=10"
    assert set(found) == {column.name for column in record.CASE_COLUMNS} | {"process", "seed", "hash_seed", "padding"}


@pytest.mark.parametrize("version", [None, b"", b"x", b"1.0", b"-1"])
def test_a_table_that_tells_no_version_is_of_another_tool(version: bytes | None) -> None:
    table = table_of([row()])
    metadata = {record.OWNER: EXECUTIONS.encode()} | ({} if version is None else {record.VERSION: version})
    with pytest.raises(SchemaError, match=r"^it is a table of another tool: expected one that this lab wrote$"):
        accept(table.replace_schema_metadata(metadata))
