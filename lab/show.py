"""What `lab show` prints of a run: every table that it has a figure for, out of the columns that a table looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab import collector, documents, durable, families, noise

if TYPE_CHECKING:
    from lab.recorded import Recorded
    from lab.reference import Reference
    from lab.table import Table

UNSHOWN = (
    *("seed", "hash_seed", "padding", "started_utc"),
    *("warmup", "max_index", "drift", "loops"),
    *("null_n", "null_p99_ns", "null_p50_before_ns", "null_p50_after_ns", "null_histogram_bucket"),
    *("null_histogram_count", "hwm_bytes", "minor_faults", "major_faults", "voluntary_switches"),
    *("involuntary_switches", "steal_ticks", "steal_own_ticks", "busy_ticks", "frequency_mhz"),
    *("counted_ns", "processor_ns"),
)
"""Columns of executions.parquet that no table looks at: no time is spent on them."""


def rows_of(opened: Recorded) -> list[dict[str, Any]]:
    """Return the rows of a run without the columns that nothing shows; `opened.ignored` names damaged parts after it.

    Any order of columns, and a run without some of them, is right. ArchiveError when the run's table is damaged.
    O(rows).
    """
    stored = opened.rows()
    shown = [name for name in stored.column_names if name not in UNSHOWN]
    found: list[dict[str, Any]] = stored.select(shown).to_pylist()
    return found


def tables(
    rows: Sequence[Mapping[str, Any]],
    cases: Sequence[Mapping[str, Any]],
    reference: Reference,
    order: Mapping[str, Sequence[str]],
) -> list[Table]:
    """Return the tables of a run that have a row: the documents', what stands beside them, those of the families.

    `rows` are those of `rows_of`, `cases` those of cases.parquet; `order` has the subjects of each family in the order
    in which they stand. [] for no rows. O(rows + pairs × resamplings).

    >>> tables([], [], {}, {"timer": ["array"]})
    []
    """
    subjects = order[families.TIMER]
    every = families.of_timers(rows)
    contenders, worst = noise.without_twins(every), noise.without_twins(families.of_timers(cases))
    (shown, _), (shown_worst, _) = collector.apart(contenders), collector.apart(worst)
    found = documents.tables(shown, shown_worst, reference, subjects)
    found += durable.tables(contenders, subjects)
    found += [collector.table(contenders, worst, subjects), noise.table(noise.bands(every))]
    return [one for one in (*found, *families.tables(rows, order)) if one.rows]
