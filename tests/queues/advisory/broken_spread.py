"""Schedulers with one fault in how they spread."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from queues.advisory.model import Model, Row
from tests.queues.breaking import breaker

FAULTS: dict[str, type[Any]] = {}
breaks = breaker(FAULTS)


@breaks("spread-even")
class SpreadsToTheWholePeriod(Model):
    """The last job is due a period from now, with the first one of the next round."""

    def place(self, at: Fraction) -> None:
        super().place(at)
        for cluster in self.clusters():
            for k, row in enumerate(cluster):
                row.next_run = at + cluster[0].period * k / max(1, len(cluster) - 1)


@breaks("spread-one-due-now")
class SpreadsFromTheSecondPlace(Model):
    def place(self, at: Fraction) -> None:
        super().place(at + Fraction(1, 10**6))


@breaks("spread-different")
class EveryClusterFromNow(Model):
    def place(self, at: Fraction) -> None:
        clusters, rows = self.clusters(), self.rows
        for cluster in clusters:
            self.rows = [row for row in rows if row in cluster]
            super().place(at)
        self.rows = rows


@breaks("spread-by-similar-period")
class OneCluster(Model):
    def clusters(self) -> list[list[Row]]:
        return [sorted(self.rows, key=lambda row: row.period)] if self.rows else []


@breaks("spread-postpones-nothing-overdue")
@breaks("auto-spread-postpones-nothing-overdue")
class PostponesOverdue(Model):
    def place(self, at: Fraction) -> None:
        for row in self.rows:
            row.next_run = max(at, row.next_run or at)
        super().place(at)


@breaks("spread-leaves-even")
class AlwaysFromNow(Model):
    def place(self, at: Fraction) -> None:
        for row in self.rows:
            if row.next_run is not None and row.next_run >= at:
                row.next_run += 10**6
        super().place(at)


@breaks("spread-of-few")
class PullsTheOnlyOne(Model):
    def place(self, at: Fraction) -> None:
        super().place(at)
        if len(self.rows) == 1:
            self.rows[0].next_run = at


@breaks("spread-asks-the-clock")
class SpreadsAtZero(Model):
    def spread(self, now: Any = None) -> None:
        super().spread(now or 0)


@breaks("auto-spread")
class ForgetsToSpread(Model):
    def spread_automatically(self, at: Fraction | None) -> None:
        pass


@breaks("model-agreement-spread")
class NewOnesFirst(Model):
    def place(self, at: Fraction) -> None:
        new = [row for row in self.rows if row.next_run is None]
        for row in new:
            row.next_run = at
        super().place(at)
