"""The tables' shape: what fits is stored unchanged, what does not is named, older files are carried over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lab import record
from lab.case import Case, execution_of
from lab.record import (
    CALLS,
    CASES,
    COLUMNS,
    EXECUTIONS,
    MIGRATIONS,
    SchemaError,
    accept,
    calls_tables,
    case_of,
    check_version,
    execution_columns,
    schema,
    table_of,
)

NEXT = record.SCHEMA_VERSION + 1
FORMAT = Path(__file__).resolve().parents[2] / "results" / "FORMAT.md"
EXECUTION = execution_of(Case.of("latency", "timer", "array", "cycle", due=10, queued=200, target="a.b:C"), 2, 1)


def row(**values: Any) -> dict[str, Any]:
    return {**execution_columns(EXECUTION), "operation": "take", "status": "ok", "message": "", **values}


def full_row() -> dict[str, Any]:
    """A row with a different value in every column, as its type allows."""
    samples: dict[str, Any] = {
        "string": "text",
        "int32": 7,
        "int64": 2**62,
        "float64": 0.1,
        "bool": True,
        "list<int32>": [1, 2],
        "list<int64>": [2**62, 3],
        "list<float64>": [0.1, -2.5],
        "list<string>": ["name=text", "b=a = b"],
    }
    return row(**{c.name: samples[c.type] for c in COLUMNS[EXECUTIONS] if c.name not in row()})


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A lab of the next schema version, for which every file written before is an older one."""
    schema.cache_clear()
    monkeypatch.setattr(record, "SCHEMA_VERSION", NEXT)
    yield
    schema.cache_clear()


def test_every_column_keeps_its_value() -> None:
    given = full_row()
    table = table_of([given])
    assert table.to_pylist() == [{column.name: given[column.name] for column in COLUMNS[EXECUTIONS]}]
    assert accept(table) == table


def test_what_a_row_leaves_out_is_empty() -> None:
    stored = table_of([row()]).to_pylist()[0]
    assert {name for name, value in stored.items() if value is None} == {
        column.name for column in COLUMNS[EXECUTIONS] if column.nullable
    }
    assert table_of([]).num_rows == 0


def test_numpy_values_are_welcome() -> None:
    given = row(n=np.int64(3), mean_ns=np.float64(1.5), timer_bound=np.bool_(True), histogram_bucket=np.array([1, 2]))
    stored = table_of([given]).to_pylist()[0]
    assert (stored["n"], stored["mean_ns"], stored["timer_bound"]) == (3, 1.5, True)
    assert stored["histogram_bucket"] == [1, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speed": 1}, "row 1 has the column 'speed': the table executions has none of that name"),
        ({"status": None}, "row 1 has no value in the column 'status': expected a text"),
        ({"process": None}, "row 1 has no value in the column 'process': expected a whole number"),
        ({"n": 1.0}, "row 1 has 1.0 in the column 'n': expected a whole number"),
        ({"n": "7"}, "row 1 has '7' in the column 'n': expected a whole number"),
        ({"n": True}, "row 1 has True in the column 'n': expected a whole number"),
        ({"n": 2**63}, "in the column 'n': expected a whole number"),
        ({"position": 2**31}, "row 1 has 2147483648 in the column 'position': expected a whole number"),
        ({"mean_ns": "1.5"}, "row 1 has '1.5' in the column 'mean_ns': expected a finite number"),
        ({"mean_ns": float("nan")}, "row 1 has nan in the column 'mean_ns': expected a finite number"),
        ({"mean_ns": float("inf")}, "row 1 has inf in the column 'mean_ns': expected a finite number"),
        ({"mean_ns": True}, "row 1 has True in the column 'mean_ns': expected a finite number"),
        ({"timer_bound": 1}, "row 1 has 1 in the column 'timer_bound': expected True or False"),
        ({"operation": 5}, "row 1 has 5 in the column 'operation': expected a text"),
        ({"message": "\ud800"}, "in the column 'message': expected a text"),
        ({"histogram_bucket": [1, 2.5]}, "row 1 has [1, 2.5] in the column 'histogram_bucket': expected a list"),
        ({"histogram_bucket": [2**31]}, "in the column 'histogram_bucket': expected a list of whole numbers"),
        ({"histogram_bucket": 5}, "row 1 has 5 in the column 'histogram_bucket': expected a list"),
        ({"points_messages": "12"}, "row 1 has '12' in the column 'points_messages': expected a list"),
        ({"status": "fine"}, "row 1 has 'fine' in the column 'status': expected one of ok, failed"),
        ({"kind": "speed"}, "row 1 has 'speed' in the column 'kind': expected one of latency"),
        ({"clock": "sun"}, "row 1 has 'sun' in the column 'clock': expected one of cpu, wall"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_column(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)) as raised:
        table_of([row(), row(**values)])
    assert "\n" not in str(raised.value)


def test_a_missing_column_is_named() -> None:
    given = row()
    del given["operation"]
    with pytest.raises(SchemaError, match="row 0 has no value in the column 'operation'"):
        table_of([given])


def test_a_row_gives_its_case_back() -> None:
    assert case_of(table_of([row()]).to_pylist()[0]) == EXECUTION.case
    bare = execution_of(Case.of("complexity", "timer", "array", "code"), 0, 1)
    assert case_of(execution_columns(bare)) == bare.case
    with pytest.raises(ValueError, match="is no kind"):
        case_of({**row(), "kind": "speed"})


def test_raw_calls_keep_their_order_and_index_per_operation() -> None:
    table = pa.concat_tables(calls_tables({"take": [30, 10], "requeue": np.array([5], dtype=np.int32)}))
    assert table.to_pylist() == [
        {"operation": "take", "index": 0, "ns": 30},
        {"operation": "take", "index": 1, "ns": 10},
        {"operation": "requeue", "index": 0, "ns": 5},
    ]
    assert accept(table, CALLS) == table
    for wrong in ([1.5], [[1]], ["a"]):
        with pytest.raises(ValueError, match="expected whole ns in a row"):
            calls_tables({"take": wrong})


def changed(table: pa.Table, **metadata: str | None) -> pa.Table:
    found = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    found |= {"timer-queue-lab" + name.replace("_", ".", 1): value for name, value in metadata.items()}
    return table.replace_schema_metadata({key: value for key, value in found.items() if value is not None})


def test_a_table_of_another_tool_another_table_and_a_newer_one_are_refused() -> None:
    table = table_of([row()])
    for foreign in (table.replace_schema_metadata(None), changed(table, _schema_version=None)):
        with pytest.raises(SchemaError, match="it is a table of another tool"):
            accept(foreign)
    with pytest.raises(SchemaError, match="it holds the table 'executions': expected 'calls'"):
        accept(table, CALLS)
    with pytest.raises(
        SchemaError, match=f"it has schema version {NEXT} and this lab reads versions up to {NEXT - 1}: update the lab"
    ):
        accept(changed(table, _schema_version=str(NEXT)))
    with pytest.raises(SchemaError, match=f"its schema version is 0: expected a whole number from 1 to {NEXT - 1}"):
        accept(changed(table, _schema_version="0"))
    for wrong in (True, None, "1", 1.0):
        with pytest.raises(SchemaError, match=f"expected a whole number from 1 to {NEXT - 1}"):
            check_version(wrong)


def test_a_table_with_other_columns_than_its_version_promises_is_refused() -> None:
    table = table_of([row()])
    metadata = table.schema.metadata
    with pytest.raises(SchemaError, match="it lacks the column 'max_ns' of the table executions"):
        accept(table.drop_columns(["max_ns"]))
    with pytest.raises(SchemaError, match="it has the column 'more', which the table executions has not"):
        accept(table.append_column("more", pa.array([1])))
    with pytest.raises(SchemaError, match="it has the column 'n' twice"):
        accept(table.append_column("n", pa.array([1], pa.int64())))
    place = table.schema.names.index("max_ns")
    with pytest.raises(SchemaError, match="its column 'max_ns' holds string: expected double"):
        accept(table.set_column(place, "max_ns", pa.array(["1"])))
    emptied = table.set_column(0, pa.field("kind", pa.string()), pa.array([None], pa.string()))
    with pytest.raises(SchemaError, match="its column 'kind' has 1 empty cells: expected none"):
        accept(emptied.replace_schema_metadata(metadata))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("max_ns", float("nan"), "its column 'max_ns' has a number that is not finite"),
        ("drift", float("-inf"), "its column 'drift' has a number that is not finite"),
        ("figure_values", [0.1, float("nan")], "its column 'figure_values' has a number that is not finite"),
        ("p50_ns", -1.0, "its column 'p50_ns' has -1.0: expected no negative one"),
        ("duration_ns", -5, "its column 'duration_ns' has -5: expected no negative one"),
        ("mean_ns", 1.7e308, "ns: no clock counts so far"),
        ("net_p50_ns", 1.7e308, "its column 'net_p50_ns' has 1.7e+308 ns: no clock counts so far"),
        ("status", "great", "its column 'status' has 'great': expected one of ok, failed"),
        ("clock", "sundial", "its column 'clock' has 'sundial': expected one of cpu, wall"),
        ("histogram_count", [1], "its columns 'histogram_bucket' and 'histogram_count' differ in length"),
        ("figure_names", None, "its columns 'figure_names' and 'figure_values' differ in length"),
    ],
)
def test_a_table_with_a_value_that_the_lab_never_stores_is_refused(column: str, value: Any, message: str) -> None:
    table = table_of([full_row() | {"kind": "latency"}])
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    with pytest.raises(SchemaError, match=re.escape(message)):
        accept(table.set_column(place, field, pa.array([value], field.type)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"p50_ns": -1.0}, "row 0 has -1.0 in the column 'p50_ns': expected no negative one"),
        ({"n": -1}, "row 0 has -1 in the column 'n': expected no negative one"),
        ({"max_ns": 1e300}, "ns in the column 'max_ns': no clock counts so far"),
        ({"histogram_count": [4, -1]}, "row 0 has -1 in the column 'histogram_count'"),
        ({"p51_ns": 1.0}, "there is a column 'p51_ns': the table executions has none of that name"),
        ({"facts": "no list"}, "in the column 'facts': expected a list of texts"),
    ],
)
def test_columns_of_a_part_of_a_row_are_looked_at_as_those_of_a_whole_one(values: Any, message: str) -> None:
    record.require_columns({"p50_ns": 3.0, "net_p50_ns": -2.5, "facts": ["a=b"]})
    with pytest.raises(SchemaError, match=re.escape(message)):
        record.require_columns(values)


def test_what_is_never_negative_and_what_goes_in_pairs_are_columns() -> None:
    known = {column.name for columns in COLUMNS.values() for column in columns}
    assert known >= record.NEVER_NEGATIVE
    assert {name for pair in record.PAIRS for name in pair} <= known


def test_columns_in_another_order_are_put_in_order() -> None:
    table = table_of([full_row()])
    assert accept(table.select(table.schema.names[::-1])) == table


@pytest.mark.usefixtures("next_version")
def test_an_older_table_is_carried_over_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    today = table_of([row(n=5)])
    older = today.rename_columns(["samples" if name == "n" else name for name in today.schema.names])
    older = changed(older.replace_schema_metadata(today.schema.metadata), _schema_version=str(NEXT - 1))

    def rename(table: pa.Table) -> pa.Table:
        return table.rename_columns(["n" if name == "samples" else name for name in table.schema.names])

    with pytest.raises(SchemaError, match=f"it has schema version {NEXT - 1}, from which no way leads to {NEXT}"):
        accept(older)
    monkeypatch.setitem(MIGRATIONS[EXECUTIONS], NEXT - 1, rename)
    carried = accept(older)
    assert carried.to_pylist()[0]["n"] == 5
    assert carried.schema.metadata[b"timer-queue-lab.schema_version"] == str(NEXT).encode()


def test_the_way_from_every_older_version_is_there() -> None:
    for table in (EXECUTIONS, CASES, CALLS):
        assert sorted(MIGRATIONS[table]) == list(range(1, record.SCHEMA_VERSION))


def documented(section: str) -> list[tuple[str, ...]]:
    """The rows of the first table of columns in a section of FORMAT.md, without the meaning."""
    text = FORMAT.read_text(encoding="utf-8").partition(f"\n## {section}")[2].partition("\n## ")[0]
    rows = [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    assert all(len(cells) == 5 and cells[4] for cells in rows)
    return [cells[:4] for cells in rows]


@pytest.mark.parametrize(
    ("section", "table"), [("executions.parquet", EXECUTIONS), ("cases.parquet", CASES), ("calls", CALLS)]
)
def test_format_md_explains_every_column_with_its_type_unit_and_whether_it_may_be_empty(
    section: str, table: str
) -> None:
    assert documented(section) == [
        (f"`{column.name}`", column.type, column.unit or "–", "yes" if column.nullable else "no")
        for column in COLUMNS[table]
    ]


def test_format_md_has_the_schema_version_and_a_history_down_to_the_first() -> None:
    text = FORMAT.read_text(encoding="utf-8")
    assert f"Schema version {record.SCHEMA_VERSION}." in text
    history = text.partition("\n## History")[2]
    for version in range(1, record.SCHEMA_VERSION + 1):
        assert re.search(rf"^\| {version} \| \S", history, re.MULTILINE)


@pytest.mark.parametrize("table", [EXECUTIONS, record.CASES])
@pytest.mark.parametrize("version", range(1, record.SCHEMA_VERSION))
def test_an_older_table_is_read_with_the_later_columns_empty(table: str, version: int) -> None:
    later = [name for added in range(version + 1, record.SCHEMA_VERSION + 1) for name in record.ADDED[added][table]]
    today = record.schema(table).empty_table() if table == record.CASES else table_of([row(n=5)])
    older = today.drop_columns(later).replace_schema_metadata(today.schema.metadata)
    older = changed(older, _schema_version=str(version))
    carried = accept(older, table)
    assert carried.schema.names == record.schema(table).names
    assert all(carried.column(name).null_count == len(older) for name in later)


def test_figures_and_facts_come_back_by_name() -> None:
    facts = ["fsync=on", "plan=SEARCH event USING INDEX (job=?)"]
    given = row(figure_names=["drift_ns", "dropped_ticks"], figure_values=[-0.5, 3], facts=facts)
    (stored,) = table_of([given]).to_pylist()
    assert record.figures_of(stored) == {"drift_ns": -0.5, "dropped_ticks": 3.0}
    assert record.facts_of(stored) == {"fsync": "on", "plan": "SEARCH event USING INDEX (job=?)"}
    (empty,) = table_of([row()]).to_pylist()
    assert (record.figures_of(empty), record.facts_of(empty)) == ({}, {})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"figure_names": ["a_ns", "b_ns"], "figure_values": [1.0]}, "row 0 has 1 figures for 2 names"),
        ({"figure_values": [1.0]}, "row 0 has 1 figures for 0 names: expected one for each"),
        ({"figure_names": ["a_ns"], "figure_values": [float("nan")]}, "expected a list of finite numbers"),
        ({"figure_names": ["a_ns"], "figure_values": [True]}, "expected a list of finite numbers"),
        ({"facts": "fsync=on"}, "expected a list of texts"),
    ],
)
def test_figures_without_a_name_or_a_number_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        table_of([row(**values)])


def test_the_migrations_bring_exactly_what_was_added() -> None:
    """Every table of every older version has a way to today's, so that no run is lost by an update."""
    for version in range(1, record.SCHEMA_VERSION):
        assert all(version in MIGRATIONS[table] for table in COLUMNS)


def refused(values: dict[str, Any]) -> str:
    with pytest.raises(SchemaError) as raised:
        table_of([row(**values)])
    return str(raised.value)


def test_a_refusal_is_one_whole_sentence() -> None:
    """What was given, where, and what was expected, to the letter: people read it and scripts look for it."""
    row_of = "row 0 has"
    assert refused({"speed": 1, "able": 2}) == f"{row_of} the column 'able': the table executions has none of that name"
    assert refused({"process": None}) == f"{row_of} no value in the column 'process': expected a whole number"
    assert refused({"facts": [1]}) == f"{row_of} [1] in the column 'facts': expected a list of texts"
    assert refused({"clock": "sun"}) == f"{row_of} 'sun' in the column 'clock': expected one of cpu, wall"
    assert refused({"figure_names": ["a_ns"]}) == f"{row_of} 0 figures for 1 names: expected one for each"
    long = refused({"n": "7" * 100})
    assert long == f"{row_of} {repr('7' * 100)[:60]} in the column 'n': expected a whole number"
    with pytest.raises(
        ValueError, match=r"^calls of take of type float64 and shape \(1,\): expected whole ns in a row$"
    ):
        calls_tables({"take": [1.5]})


def unfit(table: pa.Table, kind: str = EXECUTIONS) -> str:
    with pytest.raises(SchemaError) as raised:
        accept(table, kind)
    return str(raised.value)


def with_column(name: str, values: list[Any], table: pa.Table | None = None) -> pa.Table:
    """A table of a row for each of `values`, as a file could have it that this lab did not write."""
    table = table_of([row()] * len(values)) if table is None else table
    place = table.schema.names.index(name)
    return table.set_column(place, table.schema.field(name), pa.array(values, table.schema.field(name).type))


def test_a_table_from_elsewhere_is_refused_in_a_whole_sentence() -> None:
    table = table_of([row()])
    today = record.SCHEMA_VERSION
    assert unfit(table.replace_schema_metadata(None)) == (
        "it is a table of another tool: expected one that this lab wrote"
    )
    assert unfit(changed(table, _schema_version="1" * 10)).startswith("it is a table of another tool")
    assert unfit(changed(table, _schema_version="9" * 9)).startswith("it has schema version 999999999 and this lab")
    assert unfit(table, CASES) == "it holds the table 'executions': expected 'cases'"
    odd = table.replace_schema_metadata({**table.schema.metadata, record.OWNER: b"\xff"})
    assert unfit(odd) == "it holds the table '\ufffd': expected 'executions'"
    with pytest.raises(SchemaError, match=f"^its schema version is -1: expected a whole number from 1 to {today}$"):
        check_version(-1)
    for known in range(1, today + 1):
        check_version(known)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("status", ["ok", "fine"], "its column 'status' has 'fine': expected one of ok, failed, timeout, memory-limit"),
        ("clock", ["sun", "moon"], "its column 'clock' has 'moon': expected one of cpu, wall"),
        ("mean_ns", [1.0, float("inf")], "its column 'mean_ns' has a number that is not finite: no measurement is"),
        ("drift", [None, float("nan")], "its column 'drift' has a number that is not finite: no measurement is"),
        ("figure_values", [[1.0, float("nan")]], "its column 'figure_values' has a number that is not finite"),
        ("n", [3, -1_000], "its column 'n' has -1,000: expected no negative one"),
        ("histogram_count", [[3], [2, -1]], "its column 'histogram_count' has -1: expected no negative one"),
        ("mean_ns", [2.0**64], "its column 'mean_ns' has 1.8446744073709552e+19 ns: no clock counts so far"),
        ("figure_names", [["a"]], "its columns 'figure_names' and 'figure_values' differ in length: expected one for"),
        ("histogram_bucket", [[1], [1]], "its columns 'histogram_bucket' and 'histogram_count' differ in length"),
        ("points_messages", [[1]], "its columns 'points_messages' and 'points_rss_bytes' differ in length"),
    ],
)
def test_values_that_no_measurement_gives_are_refused_in_a_file_too(name: str, values: list[Any], said: str) -> None:
    assert unfit(with_column(name, values)).startswith(said)


def test_values_at_the_edge_of_what_can_be_are_accepted() -> None:
    edge = {
        "mean_ns": 2.0**63,
        "n": 0,
        "net_p50_ns": -5.5,
        "drift": -1.0,
        "max_index": 2**63 - 1,
        "position": 2**31 - 1,
    }
    edge |= {"duration_ns": 2**63 - 1, "rss_after_bytes": -(2**63), "minor_faults": -(2**63)}
    given = [row(**edge), row()]
    table = table_of(given)
    assert accept(table).to_pylist() == table.to_pylist()
    assert {name: table.to_pylist()[0][name] for name in edge} == edge
    assert refused({"position": -(2**31) - 1}).endswith("expected a whole number")
    assert table_of([row(position=-(2**31))]).to_pylist()[0]["position"] == -(2**31)
    pair = {"histogram_bucket": [1, 2], "histogram_count": [0, 1]}
    assert accept(table_of([row(**pair)])).num_rows == 1


def test_nothing_but_a_bool_is_a_bool_and_what_is_yields_plain_python() -> None:
    stored = table_of([row(steady=np.bool_(False), timer_bound=True, facts=("a=1",), n=np.int32(5))]).to_pylist()[0]
    assert (stored["steady"], stored["timer_bound"], stored["facts"], stored["n"]) == (False, True, ["a=1"], 5)
    for wrong in ("yes", 0, "true"):
        assert refused({"steady": wrong}).endswith("in the column 'steady': expected True or False")
    assert refused({"facts": b"a"}).endswith("expected a list of texts")
    assert refused({"mean_ns": [1.0]}).endswith("expected a finite number")
    assert refused({"message": b"text"}).endswith("expected a text")


def test_raw_calls_are_cut_into_tables_of_no_more_than_is_made_at_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "CALLS_AT_A_TIME", 3)
    tables = list(calls_tables({"take": range(7), "requeue": range(3), "none": np.array([], np.int64)}))
    assert [len(table) for table in tables] == [3, 3, 1, 3]
    assert [table.column("index").to_pylist() for table in tables] == [[0, 1, 2], [3, 4, 5], [6], [0, 1, 2]]
    assert pa.concat_tables(tables).column("ns").to_pylist() == [*range(7), *range(3)]
    assert {table.schema for table in tables} == {schema(CALLS)}
    (small,) = calls_tables({"take": np.array([5], np.uint8)})
    assert small.column("ns").to_pylist() == [5]
    with pytest.raises(ValueError, match="calls of b of type"):
        calls_tables({"a": [1], "b": ["x"]})  # before a table of a is made


def test_a_file_says_which_table_it_holds_in_which_version_and_what_may_be_empty() -> None:
    for table in (EXECUTIONS, CASES, CALLS):
        found = schema(table)
        assert found.metadata == {record.OWNER: table.encode(), record.VERSION: str(record.SCHEMA_VERSION).encode()}
        assert [field.nullable for field in found] == [column.nullable for column in COLUMNS[table]]
    assert schema().equals(schema(EXECUTIONS), check_metadata=True)
    types = {field.name: str(field.type) for field in schema()}
    assert (types["n"], types["process"], types["mean_ns"]) == ("int64", "int32", "double")
    assert (types["histogram_bucket"], types["facts"], types["timer_bound"]) == (
        "list<item: int32>",
        "list<item: string>",
        "bool",
    )


def test_the_columns_of_an_execution_are_those_of_its_case_and_its_seeds() -> None:
    case = EXECUTION.case
    assert execution_columns(EXECUTION) == {
        **{name: getattr(case, name) for name in ("kind", "family", "subject", "workload", "clock", "gc", "target")},
        "params": case.params_text,
        **{name: getattr(EXECUTION, name) for name in ("process", "seed", "hash_seed", "padding")},
    }


def test_a_name_without_a_figure_is_an_error_and_a_fact_without_a_text_is_empty() -> None:
    with pytest.raises(ValueError, match="zip"):
        record.figures_of({"figure_names": ["a"], "figure_values": [1.0, 2.0]})
    assert record.facts_of({"facts": ["alone", "a=b=c"]}) == {"alone": "", "a": "b=c"}
    assert record.facts_of({}) == record.facts_of({"facts": None}) == {}
    assert record.figures_of({"figure_names": None, "figure_values": None}) == {}
