"""What is done to an advisory scheduler: its calls, and what a schedule does on a simulated clock."""

from __future__ import annotations

from runners import advisory_rigs, advisory_simulated
from runners.workload import Workload

CALLS = "timed calls"
JOBS = "jobs of the schedule"

ADVISORY = (
    Workload(
        "next-job",
        "ask for the next job of a steady schedule, wait as advised on a simulated clock",
        {"jobs": JOBS, "calls": CALLS},
        needs=("add", "next_job", "all_jobs"),
        operations=("next_job",),
        steady=True,
        setup=advisory_rigs.advising,
        null=advisory_rigs.null_advising,
        loop=advisory_rigs.next_job_each,
    ),
    Workload(
        "replace",
        "remove the job that comes next and add it again; it runs before the next one is removed",
        {"jobs": JOBS, "calls": CALLS},
        needs=("add", "next_job", "remove", "all_jobs"),
        operations=("remove", "add"),
        steady=True,
        setup=advisory_rigs.advising,
        null=advisory_rigs.null_advising,
        loop=advisory_rigs.replace_each,
    ),
    Workload(
        "update-period",
        "set the period of the job that has just been advised",
        {"jobs": JOBS, "calls": CALLS},
        needs=("add", "next_job", "update_period", "all_jobs"),
        operations=("update_period",),
        steady=True,
        setup=advisory_rigs.updating,
        null=advisory_rigs.null_updating,
        loop=advisory_rigs.update_period_each,
    ),
    Workload(
        "spread",
        "spread a schedule of which all jobs are due at once, a fresh one for each call",
        {"jobs": JOBS, "calls": CALLS},
        needs=("add", "next_job", "spread", "job_data", "all_jobs"),
        operations=("spread",),
        steady=True,
        setup=advisory_rigs.spreading,
        null=advisory_rigs.null_spreading,
        loop=advisory_rigs.spread_each,
    ),
    Workload(
        "meeting",
        "count how many jobs are due at once, before and after they are spread; the clock is simulated",
        {"jobs": JOBS},
        needs=("add", "next_job", "spread", "job_data", "all_jobs"),
        real={"lateness": advisory_simulated.meeting},
    ),
    Workload(
        "cadence",
        "follow one job and see how far its runs come off the grid they began with; the clock is simulated",
        {"runs": "runs of the job", "period_ms": "its period", "caller": "who asks for advice"},
        needs=("add", "next_job"),
        choices={"caller": tuple(advisory_simulated.CALLERS)},
        real={"lateness": advisory_simulated.cadence},
    ),
)

WORKLOADS: dict[str, dict[str, Workload]] = {"advisory": {workload.name: workload for workload in ADVISORY}}
"""family -> name -> Workload; runners/suite_advisory.py says at which sizes."""
