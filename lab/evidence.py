"""Picks the rows of a run that a statement is about: the one place that knows which column is the figure of a row.

A figure belongs to one process, and the process is the unit: what is picked is always a list with one value a process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from statistics import median

from lab.case import parse_parameters
from lab.noise import TWIN, Band, bands, figure_of
from lab.units import format_bytes, format_count, format_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from lab.recorded import Recorded

    Row = Mapping[str, Any]

COLUMNS = (
    *("kind", "family", "workload", "subject", "params", "operation", "clock", "gc", "process", "status"),
    *("n", "mean_ns", "p50_ns", "max_ns", "null_p50_ns", "net_p50_ns", "timer_bound"),
    *("container_bytes", "points_messages", "points_rss_bytes"),
)
"""The columns of `executions` that are read; the histograms are many times as large."""

FAMILY = "timer"
"""The documents' claims are about timer queues; a run may hold other families beside them."""

TIMED = ("latency", "cost", "batched")
FIGURE = {"latency": "p50_ns", "cost": "mean_ns", "batched": "p50_ns"}
"""kind -> the column that stands for what a call usually costs: pyperf gives a mean, the others time every sample."""

FIGURE_NAME = {"latency": "p50", "cost": "mean", "batched": "p50 of batches", "memory": ""}
SIZES = ("queued", "messages", "due", "unused", "part", "left", "limit", "jobs")
NO_CONTENDER = "null"


@dataclass(frozen=True, slots=True)
class Place:
    """What was measured, whoever was measured there: kind, workload, parameters, operation.

    >>> str(Place("latency", "cycle", "calls=400,due=1000,queued=200000", "take"))
    'take of cycle, 200,000 queued, 1,000 due'
    """

    kind: str
    workload: str
    params: str
    operation: str

    @property
    def sizes(self) -> dict[str, int]:
        """The parameters that are whole numbers, without the number of calls, which is no size of the queue."""
        found = dict(parse_parameters(self.params))
        return {name: value for name, value in found.items() if isinstance(value, int) and name != "calls"}

    @property
    def order(self) -> tuple[Any, ...]:
        """What places are sorted by: kind, workload, then size by size."""
        sizes = self.sizes
        return (self.kind, self.workload, *(sizes.get(name, -1) for name in SIZES), self.operation)

    def __str__(self) -> str:
        what = self.workload if self.operation in ("", self.workload) else f"{self.operation} of {self.workload}"
        kind = f" ({self.kind})" if self.kind in ("cost", "batched") else ""
        sizes = self.sizes
        return ", ".join([what + kind, *(f"{format_count(sizes[name])} {name}" for name in SIZES if name in sizes)])


class Evidence:
    """The rows of one run that are ok, of one family and of one arm, to be asked for figures.

    `rows` are those of executions.parquet, `worst` those of cases.parquet; `order` says in which order subjects stand,
    others follow by name. A run of several arms is judged by the commonest; `arm` is its (clock, collector). `seed` is
    the run's. O(rows) to make, O(places) to ask.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        worst: Iterable[Row] = (),
        *,
        order: Sequence[str] = (),
        seed: int = 0,
        family: str = FAMILY,
    ) -> None:
        good = [row for row in rows if row["status"] == "ok" and row["family"] == family]
        arms = Counter((row["clock"], row["gc"]) for row in good)
        self.arm: tuple[str, str] = max(arms, key=lambda arm: (arms[arm], arm)) if arms else ("cpu", "on")
        self.seed = seed
        self._order = {subject: place for place, subject in enumerate(order)}
        self._good = sorted((row for row in good if (row["clock"], row["gc"]) == self.arm), key=itemgetter("process"))
        self._rows: dict[Place, dict[str, list[Row]]] = {}
        for row in self._good:
            self._rows.setdefault(_place(row), {}).setdefault(row["subject"], []).append(row)
        self._worst = {
            (_place(row), row["subject"]): row
            for row in worst
            if (row["clock"], row["gc"]) == self.arm and row["family"] == family
        }

    @classmethod
    def of(cls, run: Recorded, order: Sequence[str] = (), family: str = FAMILY) -> Evidence:
        """Return the evidence that lies in a run. ArchiveError when its files are damaged."""
        rows = run.rows().select(COLUMNS).to_pylist()
        return cls(rows, run.cases().to_pylist(), order=order, seed=run.seed, family=family)

    @cached_property
    def subjects(self) -> list[str]:
        """The contenders that have a figure: neither the null subject nor the twin of an A/A pair."""
        found = {subject for by_subject in self._rows.values() for subject in by_subject}
        contenders = (name for name in found if name != NO_CONTENDER and not name.endswith(TWIN))
        return sorted(contenders, key=lambda name: (self._order.get(name, len(self._order)), name))

    @cached_property
    def bands(self) -> list[Band]:
        """How far identical subjects come out apart, operation by operation; [] for a run without an A/A pair."""
        return bands(self._good, seed=self.seed)

    def places(
        self,
        *subjects: str,
        kind: str | tuple[str, ...] = TIMED,
        workload: str = "",
        operation: str = "",
        **sizes: int,
    ) -> list[Place]:
        """Return where every one of `subjects` was measured, in order of size; "" for any workload or operation."""
        kinds = (kind,) if isinstance(kind, str) else kind
        return sorted(
            (
                place
                for place, by_subject in self._rows.items()
                if all(subject in by_subject for subject in subjects)
                and place.kind in kinds
                and workload in ("", place.workload)
                and operation in ("", place.operation)
                and place.sizes.items() >= sizes.items()
            ),
            key=lambda place: place.order,
        )

    def measured(self, place: Place) -> list[str]:
        """Return the contenders measured at a place, in their order."""
        return [subject for subject in self.subjects if subject in self._rows.get(place, {})]

    def column(self, place: Place, subject: str, name: str) -> list[float]:
        """Return a column as it is stored, one value a process; processes without one are left out."""
        rows = self._rows.get(place, {}).get(subject, [])
        return [float(row[name]) for row in rows if row[name] is not None]

    def figures(self, place: Place, *subjects: str) -> list[list[float]]:
        """Return what the place costs each of `subjects`, one value a process: ns, or bytes in the kind memory.

        Where the p50 of one of them is timer-bound it is the net one of all of them: between two calls that are mostly
        clock, the clock would make any two queues the same.
        """
        if place.kind == "memory":
            return [self._held(place, subject) for subject in subjects]
        column = "net_p50_ns" if self.net(place, *subjects) else FIGURE[place.kind]
        return [self.column(place, subject, column) for subject in subjects]

    def by_process(self, place: Place, subject: str, name: str) -> dict[int, float]:
        """Return process -> the value of a column, for figures that are made of two rows of one process."""
        rows = self._rows.get(place, {}).get(subject, [])
        return {row["process"]: float(row[name]) for row in rows if row[name] is not None}

    def net(self, place: Place, *subjects: str) -> bool:
        """Return whether a row of one of the subjects there says more about the clock than about the queue."""
        rows = self._rows.get(place, {}) if place.kind == "latency" else {}
        return any(row["timer_bound"] for subject in subjects for row in rows.get(subject, []))

    def worst(self, place: Place, subject: str) -> Row | None:
        """Return the row of cases.parquet, with the structural worst calls, or None."""
        return self._worst.get((place, subject))

    def _held(self, place: Place, subject: str) -> list[float]:
        """Bytes a message (the slope over the points) where memory was read while filling, else the container's."""
        rows = self._rows.get(place, {}).get(subject, [])
        name = "message_bytes" if place.workload == "resident" else "container_bytes"
        return [value for value in (figure_of(row, name) for row in rows) if value is not None]


def _place(row: Row) -> Place:
    return Place(row["kind"], row["workload"], row["params"], row["operation"])


def typical(place: Place, values: Sequence[float]) -> str:
    """Return the median over the processes in its unit; "–" for none.

    >>> typical(Place("latency", "cycle", "due=10", "take"), [1_200, 1_000, 1_100])
    '1.10 µs'
    """
    if not values:
        return "–"
    return format_bytes(median(values)) if place.kind == "memory" else format_ns(median(values))
