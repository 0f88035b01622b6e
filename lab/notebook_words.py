"""The pieces of the notebook on how to read a result: the clock in it, one case taken apart, and the noise."""

from __future__ import annotations

from statistics import median

from lab.figure_tail import tails
from lab.noise import bands
from lab.notebook import Reading, nothing
from lab.notebook_html import Piece
from lab.notebook_latency import sizes
from lab.units import format_ns

SHOWN = ("steady-enqueue", "cycle", "growth")
"""Workloads of which the first that the run has is taken apart."""


def floor(reading: Reading) -> list[Piece]:
    """Say what a call that does nothing takes, and how many cases are mostly clock."""
    timed = [row for row in reading.good if row["kind"] == "latency" and row["subject"] != "null"]
    null = [row["null_p50_ns"] for row in timed if row["null_p50_ns"]]
    if not null:
        return [nothing("a call that does nothing")]
    cases = {(row["subject"], row["workload"], row["params"], row["operation"]) for row in timed}
    bound = {(row["subject"], row["workload"], row["params"], row["operation"]) for row in timed if row["timer_bound"]}
    said = f"**A call that does nothing is measured as {format_ns(round(median(null)))}; {len(bound)} of {len(cases)} "
    return [said + "figures here come from calls of less than three times that, and show their net figure as well.**"]


def one_case(reading: Reading) -> list[Piece]:
    """Return the percentile curves of one case, two subjects of it, and how many calls in how many processes it is."""
    for workload in SHOWN:
        found = [row for row in reading.good if row["kind"] == "latency" and row["workload"] == workload]
        operations = sorted({(row["params"], row["operation"]) for row in found})
        if operations:
            params, operation = operations[-1]
            rows = [
                row
                for row in found
                if (row["params"], row["operation"]) == (params, operation) and row["subject"] in reading.subjects[:3]
            ]
            calls, processes = rows[0]["n"], len({row["process"] for row in rows})
            title = f"{operation} of {workload}, {sizes(params)}"
            said = f"**Each curve is the median of {processes} processes with {calls:,} calls each.**"
            return [*tails(title, rows), said]
    return [nothing("a workload whose calls are timed one by one")]


def pairs(reading: Reading) -> list[Piece]:
    """Say how far apart identical subjects come out at most, and where."""
    found = bands(reading.every)
    if not found:
        return ["**This run holds no A/A pair: only the threshold of a comparison makes a tie.**"]
    widest = max(found, key=lambda band: band.floor)
    said = f"**Identical subjects come out up to {widest.floor:.1%} apart ({widest.operation}, {widest.kind}): "
    return [said + "a difference within the band of its operation is a tie.**"]
