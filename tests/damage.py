"""What may become of a file of a run: cut off, edited, replaced by another tool's, brought by a later lab."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lab.storage import ROWS_DIGEST, digest_of

Damage = tuple[str, str, Callable[[], bool]]
"""(the file's name, what is done to it, a function that does it and says whether anything changed)."""

NUMBERS = [math.nan, math.inf, -math.inf, -1, 0, 1, -0.0, 5e-324, 1.7e308, 2**31 - 1, 2**63 - 1, -(2**63)]
TEXTS = ["", " ", "\x00", "../../etc/passwd", "ok", "timeout", "due=1,due=2", "é" * 3000, "\n\n", "a;b", "\x1b[2J"]
PLAIN: list[Any] = [
    *(None, True, False, 0, -1, 1.5, math.nan, math.inf, 10**400, 2**63, "", "x", "\ud800", "../..", "\n", "é" * 5000),
    *([], {}, [[]], [None], {"a": 1}, [0] * 50, {"sha256": None}, {"key": "x", "process": "y"}),
]
"""Values of the wrong type, or too large, for any key of a JSON file."""


def damages(run: Path, chance: random.Random) -> list[Damage]:
    """Return one damage of each kind, on files of the run that are drawn."""
    tables = sorted(path.relative_to(run).as_posix() for path in run.rglob("*.parquet"))
    name = chance.choice([each for each in tables if "/" not in each] or tables)
    if chance.random() < 0.5:
        name = chance.choice(tables)
    any_file = chance.choice([name, "run.json"])
    raw = [
        *((any_file, f"{what.__name__.strip('_').replace('_', ' ')}", what) for what in RAW),
        *((name, f"{what.__name__.strip('_').replace('_', ' ')}", what) for what in FOREIGN),
        *((name, f"{what.__name__.strip('_').replace('_', ' ')}", what) for what in TABLE * 3),
        *(("run.json", f"{what.__name__.strip('_').replace('_', ' ')}", what) for what in MANIFEST * 4),
    ]
    return [(file, what, _bound(how, run / file, chance)) for file, what, how in raw]


def _bound(how: Callable[[Path, random.Random], None], path: Path, chance: random.Random) -> Callable[[], bool]:
    def damage() -> bool:
        before = path.read_bytes()
        how(path, chance)
        return not path.is_file() or path.is_symlink() or path.read_bytes() != before

    return damage


def _cut_off(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content))])


def _flipped_byte(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 1, 20])):
        content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
    path.write_bytes(content)


def _more_at_the_end(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + chance.randbytes(chance.choice([1, 4, 4096])))


def _empty(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


def _noise(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.choice([b"", b"PAR1", b"{", b"[" * 10**6]) + chance.randbytes(chance.randrange(1, 9999)))


def _missing(path: Path, chance: random.Random) -> None:
    path.unlink()


def _a_folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _a_link_to_itself(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _a_link_to_nothing(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _unreadable(path: Path, chance: random.Random) -> None:
    path.chmod(0)


RAW = [_cut_off, _cut_off, _flipped_byte, _flipped_byte, _more_at_the_end, _empty, _noise, _missing, _a_folder]
RAW += [_a_link_to_itself, _a_link_to_nothing, _unreadable]


def _of_pandas(path: Path, chance: random.Random) -> None:
    pd.DataFrame(pq.read_table(path).to_pylist()).to_parquet(path, compression=chance.choice(["snappy", "gzip", None]))


def _without_metadata(path: Path, chance: random.Random) -> None:
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path, version="1.0")


def _as_csv(path: Path, chance: random.Random) -> None:
    rows = pq.read_table(path).to_pylist()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["a"])
    writer.writeheader()
    writer.writerows(rows[:50])
    path.write_text(text.getvalue(), encoding="utf-8")


def _as_arrow(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(sink.getvalue().to_pybytes())


def _zipped(path: Path, chance: random.Random) -> None:
    path.write_bytes(gzip.compress(path.read_bytes()))


def _another_table(path: Path, chance: random.Random) -> None:
    others = [each for each in path.parent.parent.rglob("*.parquet") if each != path]
    path.write_bytes(chance.choice(others).read_bytes() if others else b"")


FOREIGN = [_of_pandas, _without_metadata, _as_csv, _as_arrow, _zipped, _another_table]


def _store(path: Path, table: pa.Table, chance: random.Random) -> None:
    """Write a table as the lab does: with its metadata, and with a digest that fits, or none."""
    metadata = dict(table.schema.metadata or {})
    if ROWS_DIGEST in metadata and chance.random() < 0.3:
        metadata.pop(ROWS_DIGEST)
    shape = pa.schema([field.with_nullable(True) for field in table.schema], metadata)
    pq.write_table(table.cast(shape), path, compression=chance.choice(["zstd", "snappy"]))


def sealed_rows(path: Path) -> None:
    """Give a table that vouches for its own rows a digest that fits what they are now."""
    try:
        table = pq.read_table(path)
        if ROWS_DIGEST in (table.schema.metadata or {}):
            metadata = {**table.schema.metadata, ROWS_DIGEST: digest_of(table.to_pylist()).encode()}
            pq.write_table(table.replace_schema_metadata(metadata), path)
    except (pa.ArrowException, OSError, ValueError, TypeError):
        return


def _column(table: pa.Table, chance: random.Random) -> tuple[int, pa.Field]:
    place = chance.randrange(table.num_columns)
    return place, table.schema.field(place)


def _column_dropped(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    _store(path, table.drop_columns([_column(table, chance)[1].name]), chance)


def _column_renamed(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    names = list(table.column_names)
    names[chance.randrange(len(names))] = chance.choice([*names, "x", "", "p50"])
    _store(path, table.rename_columns(names), chance)


def _column_added(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    name = chance.choice(["x", *table.column_names])
    _store(path, table.append_column(name, pa.nulls(len(table), pa.string())), chance)


def _column_retyped(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    place, field = _column(table, chance)
    kinds = [pa.string(), pa.large_string(), pa.int8(), pa.float32(), pa.bool_(), pa.binary(), pa.timestamp("us")]
    kinds += [pa.list_(pa.string()), pa.decimal128(5, 2), pa.null(), pa.dictionary(pa.int8(), pa.string())]
    kind = chance.choice(kinds)
    values = pa.nulls(len(table), kind) if chance.random() < 0.5 else _cast(table.column(place), kind)
    _store(path, table.set_column(place, pa.field(field.name, values.type), values), chance)


def _cast(values: pa.ChunkedArray, kind: pa.DataType) -> Any:
    try:
        return values.cast(kind, safe=False)
    except (pa.ArrowException, NotImplementedError):
        return pa.nulls(len(values), kind)


def _values_changed(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    for _ in range(chance.choice([1, 1, 3])):
        place, field = _column(table, chance)
        values = table.column(place).to_pylist()
        new = _of_type(field.type, chance)
        at = range(len(values)) if chance.random() < 0.5 else chance.choices(range(len(values) or 1))
        for row in at:
            if row < len(values):
                values[row] = new
        try:
            table = table.set_column(place, field, pa.array(values, field.type))
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue
    _store(path, table, chance)


def _of_type(kind: pa.DataType, chance: random.Random) -> Any:
    if chance.random() < 0.15:
        return None
    if pa.types.is_list(kind):
        return [_of_type(kind.value_type, chance) for _ in range(chance.choice([0, 1, 3, 200]))]
    if pa.types.is_string(kind):
        return chance.choice(TEXTS)
    if pa.types.is_boolean(kind):
        return chance.random() < 0.5
    number = chance.choice(NUMBERS)
    if pa.types.is_floating(kind):
        return float(number)
    whole = int(number) if math.isfinite(number) else 7
    bits = 31 if pa.types.is_int32(kind) else 63
    return max(-(2**bits), min(2**bits - 1, whole))


def _no_rows(path: Path, chance: random.Random) -> None:
    _store(path, pq.read_table(path).slice(0, 0), chance)


def _fewer_rows(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    _store(path, table.slice(0, chance.randrange(max(1, len(table)))), chance)


def _rows_twice(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    _store(path, pa.concat_tables([table] * chance.choice([2, 5])), chance)


def _another_version(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    version = chance.choice([b"1", b"2", b"4", b"99", b"-1", b"3.0", b"", b"9" * 5000, "²".encode(), b"\xff"])
    metadata = {**(table.schema.metadata or {}), b"timer-queue-lab.schema_version": version}
    pq.write_table(table.replace_schema_metadata(metadata), path)


TABLE = [_column_dropped, _column_renamed, _column_added, _column_retyped, _values_changed, _values_changed, _no_rows]
TABLE += [_values_changed, _fewer_rows, _rows_twice, _another_version]


def _places(plain: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in plain JSON data."""
    found = [path] if path else []
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return found + [place for name, value in items for place in _places(value, (*path, name))]


def _a_value_of_another_type(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    for _ in range(chance.choice([1, 1, 2])):
        top = chance.choice([name for name in content if name != "digest"])
        places = [place for place in _places(content) if place[0] == top]
        *way, last = chance.choice(places)
        holder = content
        for name in way:
            holder = holder[name]
        holder[last] = chance.choice(PLAIN)
    path.write_text(json.dumps(content), encoding="utf-8")


def _a_key_less(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    *way, last = chance.choice(_places(content))
    holder = content
    for name in way:
        holder = holder[name]
    del holder[last]
    path.write_text(json.dumps(content), encoding="utf-8")


def _a_key_more(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    holder = chance.choice([content, content["options"], content["environment"], content["files"], content["targets"]])
    holder[chance.choice(["x", "", "left_out", "../x", "calls/x.parquet", "label"])] = chance.choice(PLAIN)
    path.write_text(json.dumps(content), encoding="utf-8")


def _deep_nesting(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    name = chance.choice([name for name in content if name != "digest"])
    depth = chance.choice([100, 400, 900, 980, 5000, 10**5])
    content[name] = "@"
    deep = "[" * depth + "]" * depth if chance.random() < 0.5 else '{"a":' * depth + "1" + "}" * depth
    path.write_text(json.dumps(content).replace('"@"', deep, 1), encoding="utf-8")


def _the_plan_twice(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["planned"] = chance.choice([content["planned"] * 2, [], content["planned"][:1], content["planned"][::-1]])
    path.write_text(json.dumps(content), encoding="utf-8")


def _another_state(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["state"] = chance.choice(["running", "complete", "interrupted"])
    path.write_text(json.dumps(content), encoding="utf-8")


def _a_later_version(path: Path, chance: random.Random) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["schema_version"] = chance.choice([1, 2, 4, 10**30, 0, -1, 3.0, "3", None, True])
    path.write_text(json.dumps(content), encoding="utf-8")


MANIFEST = [_a_value_of_another_type, _a_value_of_another_type, _a_value_of_another_type, _a_key_less, _a_key_more]
MANIFEST += [_deep_nesting, _the_plan_twice, _another_state, _a_later_version]
