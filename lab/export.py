"""A run for other tools: pyperf's JSON for those that read it, and every row as CSV or JSON with units in the names."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lab.noise import Row
from lab.pairing import Sample, Side, samples
from lab.record import COLUMNS, EXECUTIONS, Column, case_of

FORMATS = ("pyperf", "csv", "json")

UNITS = {"ns": ("second", 1e-9), "bytes": ("byte", 1.0)}
"""The end of a figure's name -> pyperf's unit, and what a value is multiplied by."""


def export(run: Side, form: str) -> str:
    """Return a run as text in one of FORMATS; ValueError for another, and for a run without what it wants.

    O(rows).
    """
    if form == "pyperf":
        return _pyperf(run)
    if form == "csv":
        return _csv(run.rows)
    if form == "json":
        return _json(run)
    raise ValueError(f"no format {form!r}: expected one of {', '.join(FORMATS)}")


def named(column: Column) -> str:
    """Return the name of a column with its unit at the end, where it is not in the name yet.

    >>> [named(column) for column in COLUMNS[EXECUTIONS] if column.name in ("n", "p50_ns", "padding", "subject")]
    ['subject', 'padding_bytes', 'n_samples', 'p50_ns']
    """
    unit = column.unit.split(" ")[0].lower()  # "ns per call" is in the name as ns
    if not unit or unit.rstrip("s") in column.name.split("_") or unit in column.name.split("_"):
        return column.name
    return f"{column.name}_{unit}"


def _csv(rows: Iterable[Row]) -> str:
    """Every row; lists (histograms, points) as numbers with blanks between."""
    columns = COLUMNS[EXECUTIONS]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(named(column) for column in columns)
    writer.writerows([_cell(row.get(column.name)) for column in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _json(run: Side) -> str:
    rows = [{named(column): row.get(column.name) for column in COLUMNS[EXECUTIONS]} for row in run.rows]
    whole = {"run": run.name, "environment": dict(run.environment), "executions": rows}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _pyperf(run: Side) -> str:
    """One benchmark a case, operation and figure; one run of pyperf a process, with the figure as its value.

    The figures are those that `lab compare` reads. A value of 0 or less is no value to pyperf: such a case is left out,
    as is complexity, which is not timed. Of a figure without any spread (the bytes of a container) pyperf says that it
    cannot test it. ValueError when nothing is left.
    """
    import pyperf

    kept = [one for one in samples(run.rows) if min(one.values) > 0]
    seconds = _seconds(run.rows, kept)
    benchmarks = [
        pyperf.Benchmark(
            [
                _process(value, one, run.environment, seconds.get((one.case.key, process)))
                for value, process in zip(one.values, one.processes, strict=True)
            ]
        )
        for one in kept
    ]
    if not benchmarks:
        raise ValueError(f"{run.name} has no figure that pyperf could hold: expected at least one above 0")
    text = io.StringIO()
    pyperf.BenchmarkSuite(benchmarks).dump(text)
    return text.getvalue()


def _seconds(rows: Iterable[Row], kept: Iterable[Sample]) -> dict[tuple[str, int], float]:
    """Return how long each execution took, shared out over its benchmarks, so that pyperf's total is the run's."""
    took = {(case_of(row).key, row["process"]): row["duration_ns"] for row in rows if row["duration_ns"]}
    shares = Counter((one.case.key, process) for one in kept for process in one.processes)
    return {identity: ns / 1e9 / shares[identity] for identity, ns in took.items() if shares[identity]}


def _process(value: float, one: Sample, environment: Mapping[str, Any], seconds: float | None) -> Any:
    import pyperf

    unit, factor = UNITS.get(one.figure.rsplit("_", 1)[-1], ("integer", 1.0))
    facts = {
        "python_version": _only(one.shape["python"]) or environment.get("python"),
        "python_implementation": environment.get("implementation"),
        "cpu_model_name": environment.get("processor"),
    }
    metadata = {
        "name": f"{one.case.key} {one.operation} {one.figure.rsplit('_', 1)[0]}",
        "unit": unit,
        **{name: str(fact) for name, fact in facts.items() if fact},
        **({"duration": seconds} if seconds else {}),
    }
    return pyperf.Run([value * factor], metadata=metadata, collect_metadata=False)


def _only(values: Iterable[Any]) -> Any:
    every: Sequence[Any] = list(values)
    return every[0] if len(every) == 1 else None
