"""The claims of the documents as functions of a run: sentences that it bears out, contradicts or cannot tell.

A claim that does not hold in Python is a finding, not a failure. Those about the timer queues stand in claims_cost.py,
claims_worst.py and claims_memory.py, those about another family in a module of its name.
"""

from __future__ import annotations

from lab import claims_advisory, claims_durable, claims_events, claims_pacing, durable
from lab.bench import Bench
from lab.claim import Judgement
from lab.claims_cost import (
    array_beats_linked,
    chunked_loses_to_nothing,
    enqueue_and_length,
    known_tail_beats_array,
    put_back_and_length,
    put_back_and_part,
    scan_is_most_of_the_cycle,
)
from lab.claims_memory import drained_container, memory_per_message
from lab.claims_worst import LARGE as LARGE
from lab.claims_worst import freeing, growth_spike, steady_worst_calls
from lab.evidence import TIMED, Evidence
from lab.reference import PERL, read_reference
from lab.verdict import LEAST_PROCESSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lab.recorded import Recorded

    Claim = Callable[[Bench], Iterable[Judgement]]

CLAIMS: tuple[Claim, ...] = (
    array_beats_linked,
    enqueue_and_length,
    put_back_and_length,
    put_back_and_part,
    known_tail_beats_array,
    scan_is_most_of_the_cycle,
    growth_spike,
    steady_worst_calls,
    freeing,
    memory_per_message,
    drained_container,
    chunked_loses_to_nothing,
)
"""Every claim, in the order of the documents."""

FAMILIES: tuple[Callable[[Recorded], list[Judgement]], ...] = (
    claims_advisory.judge_run,
    claims_pacing.judge_run,
    claims_events.judge_run,
    claims_durable.judge_run,
)
"""The claims about the other families, each of which says nothing of a run without its rows."""


def judge(bench: Bench) -> list[Judgement]:
    """Return every claim with what the run makes of it, in the order of the documents. O(places × subjects)."""
    return [found for claim in CLAIMS for found in claim(bench)]


def judge_run(run: Recorded) -> tuple[list[Judgement], list[str]]:
    """Return every claim with what a run makes of it, and the sentences that say how it was judged.

    The claims of the documents come first, unless the run has other families alone; then those about the families.
    ArchiveError when the run's files are damaged. O(rows + places × subjects).
    """
    evidence = Evidence.of(run, order=list(PERL))
    clock, gc = evidence.arm
    widest = max((band.floor for band in evidence.bands), default=0.0)
    tie = (
        f"; identical subjects differ by up to {widest:.1%}, a difference inside their band is a tie" if widest else ""
    )
    notes = [f"clock {clock}, collector {gc}{tie}; a verdict needs {LEAST_PROCESSES} processes a side."]
    if not evidence.bands:
        notes.append("The run holds no A/A pair, so only the threshold of ±5 % makes a tie.")
    beside = [found for judge_family in FAMILIES for found in judge_family(run)]
    documents = [] if beside and not _of_documents(evidence) else judge(Bench(evidence, read_reference()))
    return [*documents, *beside], [*notes, *run.ignored]


def _of_documents(evidence: Evidence) -> bool:
    """Whether a run has a workload of the documents: one of durable queues alone has none."""
    places = evidence.places(kind=(*TIMED, "memory"))
    return bool(evidence.subjects) and any(not place.workload.startswith(durable.PREFIX) for place in places)
