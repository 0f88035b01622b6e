"""The shape of what is stored: the columns of every table, their types, and the way from older shapes to this one.

`results/FORMAT.md` explains the columns to a reader; a test holds the two together. One schema version covers all files
of a run. pyarrow is imported when a table is made or read, not before. Longer than 300 lines: the columns of all tables
stand here.
"""

from __future__ import annotations

import math
import re
from functools import cache
from numbers import Real
from operator import index
from typing import NamedTuple

from lab.absent import absent
from lab.case import CLOCKS, COLLECTORS, KINDS, Case, Execution, parse_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

SCHEMA_VERSION = 3
STATUSES = ("ok", "failed", "timeout", "memory-limit", "check-failed", "not-offered")
EXECUTIONS, CASES, CALLS = "executions", "cases", "calls"
CALLS_AT_A_TIME = 2**20
"""Raw calls that are made into a table at one time, and so the rows of a group in the file."""
OWNER = b"timer-queue-lab"  # the metadata key under which a file says which table it holds
VERSION = b"timer-queue-lab.schema_version"

ALLOWED = {"kind": KINDS, "clock": CLOCKS, "gc": COLLECTORS, "status": STATUSES}
NEVER_NEGATIVE = frozenset(
    {
        *("process", "seed", "hash_seed", "padding", "attempt", "duration_ns", "n", "warmup", "calls_per_sample"),
        *("mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "max_index", "bare_p50_ns"),
        *("null_n", "null_p50_ns", "null_p99_ns", "null_p50_before_ns", "null_p50_after_ns", "points_messages"),
        *("histogram_bucket", "histogram_count", "null_histogram_bucket", "null_histogram_count", "processes"),
        *("structural_worst_ns", "structural_worst_index", "worst_index", "worst_ns", "worst_process_ns"),
        *("index", "ns"),
    }
)
"""Columns of times, numbers and places, of which a negative one cannot be."""

LONGEST_NS = float(2**63)
"""No span is longer: a clock is a 64-bit number of ns."""

PAIRS = (
    ("figure_names", "figure_values"),
    ("histogram_bucket", "histogram_count"),
    ("null_histogram_bucket", "null_histogram_count"),
    ("points_messages", "points_rss_bytes"),
)
"""Columns of lists that belong together, item by item."""

WANTED = {
    "string": "a text",
    "int32": "a whole number",
    "int64": "a whole number",
    "float64": "a finite number",
    "bool": "True or False",
    "list<int32>": "a list of whole numbers",
    "list<int64>": "a list of whole numbers",
    "list<float64>": "a list of finite numbers",
    "list<string>": "a list of texts",
}


class SchemaError(ValueError):
    """A row or a file that does not have the shape of its table; the message is one sentence."""


class Column(NamedTuple):
    """One column: its name, its type, its unit ("" where it has none) and whether it may be null."""

    name: str
    type: str
    unit: str = ""
    nullable: bool = True


def _columns(type_: str, unit: str, names: str, *, nullable: bool = True) -> list[Column]:
    return [Column(name, type_, unit, nullable) for name in names.split()]


CASE_COLUMNS = _columns("string", "", "kind family subject workload params clock gc target", nullable=False)

COLUMNS: dict[str, tuple[Column, ...]] = {
    EXECUTIONS: (
        *CASE_COLUMNS,
        Column("process", "int32", "", nullable=False),
        *_columns("string", "", "operation status message", nullable=False),
        *_columns("int64", "", "seed hash_seed", nullable=False),
        Column("padding", "int32", "bytes", nullable=False),
        *_columns("int32", "", "position"),
        *_columns("string", "", "started_utc"),
        *_columns("int64", "ns", "duration_ns"),
        *_columns("string", "", "python"),
        *_columns("int64", "samples", "n warmup"),
        *_columns("int64", "calls", "calls_per_sample"),
        *_columns("float64", "ns per call", "mean_ns min_ns p50_ns p90_ns p99_ns p999_ns max_ns"),
        *_columns("int64", "samples", "max_index"),
        *_columns("list<int32>", "buckets", "histogram_bucket"),
        *_columns("list<int64>", "samples", "histogram_count"),
        *_columns("int64", "samples", "null_n"),
        *_columns("float64", "ns per call", "null_p50_ns null_p99_ns null_p50_before_ns null_p50_after_ns"),
        *_columns("list<int32>", "buckets", "null_histogram_bucket"),
        *_columns("list<int64>", "samples", "null_histogram_count"),
        *_columns("float64", "ns per call", "net_p50_ns"),
        *_columns("bool", "", "timer_bound"),
        *_columns("float64", "ns", "bare_p50_ns"),
        *_columns("int64", "bytes", "rss_before_bytes rss_after_bytes hwm_bytes container_bytes"),
        *_columns("list<int64>", "messages", "points_messages"),
        *_columns("list<int64>", "bytes", "points_rss_bytes"),
        *_columns("int64", "faults", "minor_faults major_faults"),
        *_columns("int64", "switches", "voluntary_switches involuntary_switches"),
        *_columns("int64", "ticks", "steal_ticks"),
        *_columns("int64", "collections", "collections_0 collections_1 collections_2"),
        *_columns("int64", "calls", "loops"),
        *_columns("int64", "", "statements branches index_operations"),
        *_columns("int64", "messages", "merged walked"),
        *_columns("int32", "attempts", "attempt"),
        *_columns("string", "", "set_aside disturbed"),
        *_columns("float64", "MHz", "frequency_mhz"),
        *_columns("int64", "ns", "counted_ns processor_ns"),
        *_columns("int64", "ticks", "steal_own_ticks busy_ticks"),
        *_columns("int64", "bytes", "fill_peak_bytes drain_peak_bytes"),
        *_columns("bool", "", "steady"),
        *_columns("float64", "", "drift"),
        *_columns("int64", "ns", "clock_step_ns"),
        *_columns("int64", "bytecodes", "bytecodes"),
        *_columns("int64", "blocks", "allocated_blocks"),
        *_columns("int64", "instructions", "instructions"),
        *_columns("int64", "allocations", "allocations"),
        *_columns("int64", "bytes", "high_water_bytes"),
        *_columns("list<string>", "", "figure_names"),
        *_columns("list<float64>", "", "figure_values"),
        *_columns("list<string>", "", "facts"),
    ),
    CASES: (
        *CASE_COLUMNS,
        Column("operation", "string", "", nullable=False),
        Column("processes", "int32", "processes", nullable=False),
        *_columns("int64", "samples", "n"),
        *_columns("int64", "ns", "structural_worst_ns"),
        *_columns("int64", "samples", "structural_worst_index"),
        *_columns("list<int64>", "samples", "worst_index"),
        *_columns("list<int64>", "ns", "worst_ns worst_process_ns"),
        *_columns("list<string>", "", "worst_cause"),
    ),
    CALLS: (
        Column("operation", "string", "", nullable=False),
        Column("index", "int64", "samples", nullable=False),
        Column("ns", "int64", "ns", nullable=False),
    ),
}
"""table -> its columns in order."""

ADDED = {
    2: {
        EXECUTIONS: [
            "attempt",
            "set_aside",
            "disturbed",
            "frequency_mhz",
            "counted_ns",
            "processor_ns",
            "steal_own_ticks",
            "busy_ticks",
            "fill_peak_bytes",
            "drain_peak_bytes",
            "steady",
            "drift",
            "clock_step_ns",
            "bytecodes",
            "allocated_blocks",
            "instructions",
            "allocations",
            "high_water_bytes",
        ],
        CASES: ["worst_index", "worst_ns", "worst_process_ns", "worst_cause"],
        CALLS: [],
    },
    3: {EXECUTIONS: ["figure_names", "figure_values", "facts"], CASES: [], CALLS: []},
}
"""version -> table -> the columns that it brought, all of which may be null."""


@cache
def schema(table: str = EXECUTIONS) -> pa.Schema:
    """Return the pyarrow schema of `table`, its metadata saying which table it is and in which version."""
    import pyarrow as pa

    with absent("pandas"):
        pa.array([])  # looks once whether it is given something of pandas; loading that takes longer than all of Arrow
    types = {name: pa.type_for_alias(name) for name in ("string", "int32", "int64", "float64", "bool")}
    types |= {f"list<{name}>": pa.list_(types[name]) for name in ("int32", "int64", "float64", "string")}
    fields = [pa.field(column.name, types[column.type], column.nullable) for column in COLUMNS[table]]
    return pa.schema(fields, metadata={OWNER: table.encode(), VERSION: str(SCHEMA_VERSION).encode()})


def table_of(rows: Iterable[Mapping[str, Any]], table: str = EXECUTIONS) -> pa.Table:
    """Return the rows as a table; what a row leaves out is null where the column may be null.

    O(rows × columns). SchemaError names the row (from 0) and the column: an unknown one, a missing one, a value of the
    wrong type, a word that is none of the allowed ones, or a number that does not fit or is not finite.
    """
    import pyarrow as pa

    columns = COLUMNS[table]
    names = {column.name for column in columns}
    checked = []
    for number, row in enumerate(rows):
        unknown = sorted(set(row) - names)
        if unknown:
            raise SchemaError(f"row {number} has the column {unknown[0]!r}: the table {table} has none of that name")
        checked.append({column.name: _checked(row.get(column.name), column, number) for column in columns})
        _require_pairs(checked[-1], number)
    return pa.Table.from_pylist(checked, schema=schema(table))


def require_columns(columns: Mapping[str, Any], table: str = EXECUTIONS) -> None:
    """Refuse what `table_of` would refuse of a part of a row, wherever the rest of it comes from; SchemaError."""
    known = {column.name: column for column in COLUMNS[table]}
    for name, value in columns.items():
        if name not in known:
            raise SchemaError(f"there is a column {name!r}: the table {table} has none of that name")
        _checked(value, known[name], 0)
    _require_pairs(columns, 0)


def calls_tables(calls: Mapping[str, ArrayLike]) -> Iterator[pa.Table]:
    """Return the tables of raw calls, operation -> its ns in order, each of `CALLS_AT_A_TIME` rows at most.

    All are looked at before the first is made: ValueError for what is no row of whole numbers.
    """
    import numpy as np

    given = {operation: np.asarray(samples) for operation, samples in calls.items()}
    for operation, ns in given.items():
        if ns.ndim != 1 or ns.dtype.kind not in ("i", "u"):
            raise ValueError(
                f"calls of {operation} of type {ns.dtype} and shape {ns.shape}: expected whole ns in a row"
            )
    return (
        _calls_table(operation, ns, start)
        for operation, ns in given.items()
        for start in range(0, len(ns), CALLS_AT_A_TIME)
    )


def _calls_table(operation: str, ns: NDArray[Any], start: int) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    piece = ns[start : start + CALLS_AT_A_TIME]
    index = np.arange(start, start + len(piece))
    columns = [pa.repeat(pa.scalar(operation), len(piece)), index, np.asarray(piece, dtype=np.int64)]
    return pa.table(columns, schema=schema(CALLS))


def accept(stored: pa.Table, table: str = EXECUTIONS) -> pa.Table:
    """Return a table read from a file in today's shape, migrated when it is older.

    SchemaError when it is not a table of this lab, another table, of a newer version (both are named), of a version
    from which no way leads here, or has other columns than its version promises.
    """
    found = stored.schema.metadata or {}
    owner, version_text = found.get(OWNER), found.get(VERSION)
    if owner is None or version_text is None or not re.fullmatch(rb"[0-9]{1,9}", version_text):
        raise SchemaError("it is a table of another tool: expected one that this lab wrote")
    if owner != table.encode():
        raise SchemaError(f"it holds the table {owner.decode(errors='replace')!r}: expected {table!r}")
    version = int(version_text)
    check_version(version)
    while version < SCHEMA_VERSION:
        step = MIGRATIONS[table].get(version)
        if step is None:
            raise SchemaError(f"it has schema version {version}, from which no way leads to {SCHEMA_VERSION}")
        stored, version = step(stored), version + 1
    return _in_shape(stored, table)


def check_version(version: object) -> None:
    """Refuse a schema version newer than this lab's, naming both, and one that is no positive whole number."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SchemaError(f"its schema version is {version!r}: expected a whole number from 1 to {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"it has schema version {version} and this lab reads versions up to {SCHEMA_VERSION}: update the lab"
        )


def _with_added(table: str, version: int) -> Callable[[pa.Table], pa.Table]:
    """Return the migration to `version`: the columns that it brought, empty in what was written before."""

    def migrate(stored: pa.Table) -> pa.Table:
        import pyarrow as pa

        for name in ADDED[version][table]:
            stored = stored.append_column(
                schema(table).field(name), pa.nulls(len(stored), schema(table).field(name).type)
            )
        return stored

    return migrate


MIGRATIONS: dict[str, dict[int, Callable[[pa.Table], pa.Table]]] = {
    table: {version - 1: _with_added(table, version) for version in ADDED} for table in COLUMNS
}
"""table -> version -> the function that turns a table of that version into one of the next version."""


def execution_columns(execution: Execution) -> dict[str, Any]:
    """Return the columns of a row that follow from its execution: the case's, process, seed, hash_seed, padding."""
    case = execution.case
    return {
        **{column.name: getattr(case, column.name) for column in CASE_COLUMNS},
        "params": case.params_text,  # in place of the numbers themselves
        "process": execution.process,
        "seed": execution.seed,
        "hash_seed": execution.hash_seed,
        "padding": execution.padding,
    }


def figures_of(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what a row of `executions` reports besides times, name -> number; empty where it reports nothing.

    >>> figures_of({"figure_names": ["dropped_ticks"], "figure_values": [3.0]}), figures_of({})
    ({'dropped_ticks': 3.0}, {})
    """
    return dict(zip(row.get("figure_names") or (), row.get("figure_values") or (), strict=True))


def facts_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings and explanations of a row of `executions`, name -> text.

    >>> facts_of({"facts": ["fsync=on", "plan=a = b"]})
    {'fsync': 'on', 'plan': 'a = b'}
    """
    pairs = (fact.partition("=") for fact in row.get("facts") or ())
    return {name: text for name, _, text in pairs}


def case_of(row: Mapping[str, Any]) -> Case:
    """Return the case that a row of `executions` or `cases` is about; ValueError when its columns make none."""
    values = {column.name: row[column.name] for column in CASE_COLUMNS}
    return Case(**{**values, "params": parse_parameters(values["params"])})


def _checked(value: Any, column: Column, number: int) -> Any:
    """Return `value` as plain Python data of the column's type, or raise SchemaError."""
    if value is None:
        if column.nullable:
            return None
        raise SchemaError(f"row {number} has no value in the column {column.name!r}: expected {WANTED[column.type]}")
    try:
        plain = _plain(value, column.type)
    except (TypeError, ValueError):
        shown = repr(value)[:60]
        wanted = WANTED[column.type]
        raise SchemaError(f"row {number} has {shown} in the column {column.name!r}: expected {wanted}") from None
    for one in plain if isinstance(plain, list) else (plain,):
        if column.name in NEVER_NEGATIVE and one < 0:
            raise SchemaError(f"row {number} has {one!r} in the column {column.name!r}: expected no negative one")
        if column.unit.startswith("ns") and one > LONGEST_NS:
            raise SchemaError(f"row {number} has {one!r} ns in the column {column.name!r}: no clock counts so far")
    if plain not in ALLOWED.get(column.name, (plain,)):
        allowed = ", ".join(ALLOWED[column.name])
        raise SchemaError(f"row {number} has {plain!r} in the column {column.name!r}: expected one of {allowed}")
    return plain


def _require_pairs(row: Mapping[str, Any], number: int) -> None:
    """Refuse figures that have no name and names that have no figure."""
    names, values = row.get("figure_names") or (), row.get("figure_values") or ()
    if len(names) != len(values):
        raise SchemaError(f"row {number} has {len(values)} figures for {len(names)} names: expected one for each")


def _plain(value: Any, type_: str) -> Any:
    """Return `value` as the plain Python object that a column of this type holds; TypeError or ValueError else."""
    if type_.startswith("list<"):
        if isinstance(value, (str, bytes)):
            raise TypeError
        return [_plain(item, type_[5:-1]) for item in value]
    if type_ == "bool":
        if str(value) not in ("True", "False"):  # numpy's booleans are welcome, 0 and 1 are not
            raise TypeError
        return bool(value)
    if type_ == "string":
        if not isinstance(value, str):
            raise TypeError
        value.encode()  # a lone surrogate cannot be stored
        return value
    if isinstance(value, bool):
        raise TypeError
    return _plain_float(value) if type_ == "float64" else _plain_int(value, bits=int(type_.removeprefix("int")))


def _plain_float(value: Any) -> float:
    if not isinstance(value, Real):
        raise TypeError
    if not math.isfinite(value):  # no measurement is, and a NaN would pass every later comparison
        raise ValueError
    return float(value)


def _plain_int(value: Any, bits: int) -> int:
    whole = index(value)  # TypeError for a float, even for 3.0
    if not -(2 ** (bits - 1)) <= whole < 2 ** (bits - 1):
        raise ValueError
    return whole


def _in_shape(stored: pa.Table, table: str) -> pa.Table:
    """Return `stored` with exactly the schema of `table`; SchemaError names the first difference."""
    import pyarrow as pa

    expected = schema(table)
    if not stored.schema.equals(expected):
        _require_columns(stored.schema, expected, table)
        stored = stored.select(expected.names)
    for column in COLUMNS[table]:
        values = stored.column(column.name)
        if not column.nullable and values.null_count:
            raise SchemaError(f"its column {column.name!r} has {values.null_count} empty cells: expected none")
        _require_values(column, values)
    for one, two in PAIRS:
        if one in expected.names:
            _require_as_many(stored, one, two)
    return pa.Table.from_arrays(stored.columns, schema=expected)


def _require_values(column: Column, values: pa.ChunkedArray) -> None:
    """Refuse values that `table_of` never lets into a column, and those that no measurement gives."""
    import pyarrow.compute as pc

    if column.name in ALLOWED:
        unknown = sorted(set(pc.unique(values).to_pylist()) - set(ALLOWED[column.name]))
        if unknown:
            allowed = ", ".join(ALLOWED[column.name])
            raise SchemaError(f"its column {column.name!r} has {unknown[0]!r}: expected one of {allowed}")
        return
    flat = pc.list_flatten(values) if column.type.startswith("list<") else values
    if flat.null_count == len(flat):
        return
    if column.type.endswith(("float64", "float64>")) and not pc.all(pc.is_finite(flat)).as_py():
        raise SchemaError(f"its column {column.name!r} has a number that is not finite: no measurement is")
    positive, timed = column.name in NEVER_NEGATIVE, column.unit.startswith("ns")
    if not positive and not timed:
        return
    ends = pc.min_max(flat).as_py()
    if positive and ends["min"] < 0:
        raise SchemaError(f"its column {column.name!r} has {ends['min']:,}: expected no negative one")
    if timed and ends["max"] > LONGEST_NS:
        raise SchemaError(f"its column {column.name!r} has {ends['max']:,} ns: no clock counts so far")


def _require_as_many(stored: pa.Table, one: str, two: str) -> None:
    import pyarrow.compute as pc

    # lists of Python: to fill the empty cells Arrow would load pandas
    first, second = ([n or 0 for n in pc.list_value_length(stored.column(name)).to_pylist()] for name in (one, two))
    if first != second:
        raise SchemaError(f"its columns {one!r} and {two!r} differ in length: expected one for each")


def _require_columns(found: pa.Schema, expected: pa.Schema, table: str) -> None:
    names, wanted = list(found.names), list(expected.names)
    for name in wanted:
        if name not in names:
            raise SchemaError(f"it lacks the column {name!r} of the table {table}")
    for name in names:
        if name not in wanted:
            raise SchemaError(f"it has the column {name!r}, which the table {table} has not")
        if names.count(name) > 1:
            raise SchemaError(f"it has the column {name!r} twice")
        have, want = found.field(name).type, expected.field(name).type
        if have != want:
            raise SchemaError(f"its column {name!r} holds {have}: expected {want}")
