"""procrastinate as a queue of events in PostgreSQL: what claims cost there.

Its own calls, those that its worker makes: `fetch_job` and `finish_job`, each on the asyncio loop of this object. It
has a heartbeat by worker and not by job, and no lease: what a dead worker has comes back when somebody asks for stalled
jobs, which is not done here.
"""

from __future__ import annotations

import asyncio
import secrets

import procrastinate
import psycopg
from procrastinate.jobs import Job, Status
from psycopg import sql

from queues.addresses import url_of
from queues.events.rules import Claim, Event, require_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

BATCH = 1_000


class Procrastinate:
    """The part of the event queue's contract that procrastinate has, in the schema `name`, private without one."""

    engine = "postgresql"

    def __init__(self, url: str | None = None, *, name: str | None = None) -> None:
        """Connect; make the schema where it is not there."""
        self._url = url_of(self.engine, url)
        self._private = name is None
        self.name = f"procrastinate_{secrets.token_hex(6)}" if name is None else require_plain(name)
        if self._private:
            with psycopg.connect(self._url, autocommit=True) as connection:
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self.name)))
        options = {"options": f"-c search_path={self.name}"}
        self._runner = asyncio.Runner()
        connector = procrastinate.PsycopgConnector(conninfo=self._url, min_size=1, max_size=1, kwargs=options)
        self._app = procrastinate.App(connector=connector)
        self._run(self._app.open_async())
        if self._private:
            self._run(self._app.schema_manager.apply_schema_async())
        self._manager = self._app.job_manager
        self._worker: int = self._run(self._manager.register_worker())

    @property
    def place(self) -> dict[str, Any]:
        """The arguments with which the class opens the same events once more."""
        return {"name": self.name}

    def facts(self) -> dict[str, str]:
        """Return what decides a figure, by name."""
        return {"procrastinate": procrastinate.__version__}

    def record_many(self, events: Iterable[tuple[str, str, str, int]]) -> int:
        """Defer a job for each, a thousand a statement."""
        jobs = [self._job(of, task) for of, task, _, _ in events]
        for first in range(0, len(jobs), BATCH):
            self._run(self._manager.batch_defer_jobs_async(jobs[first : first + BATCH]))
        return len(jobs)

    def claim(self, of: str, by: str, *, worker: str, lease_us: int, now_us: int | None = None) -> Claim | None:
        """Fetch the next job."""
        job = self._run(self._manager.fetch_job([of], self._worker))
        if job is None:
            return None
        event = Event(job.id or 0, of, str(job.task_kwargs["task"]), "SUCCEEDED", 0)
        return Claim(event, by, worker, job.attempts + 1, lease_us, 0)

    def complete(self, claim: Claim, result: str) -> int:
        """Finish the job, which stays as one that succeeded."""
        job = self._job(claim.event.job, claim.event.task, claim.event.id)
        status = Status.SUCCEEDED if result == "SUCCEEDED" else Status.FAILED
        self._run(self._manager.finish_job(job, status, delete_job=False))
        return claim.event.id

    def pending(self, of: str, by: str, *, limit: int | None = None) -> list[Any]:
        """Return the jobs that nobody has fetched."""
        return list(self._run(self._manager.list_jobs_async(queue=of, status="todo")))[:limit]

    def close(self) -> None:
        """Let go of the connections, and of the schema when it was made for this object."""
        self._run(self._app.close_async())
        self._runner.close()
        if self._private:
            with psycopg.connect(self._url, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(self.name)))

    def _job(self, of: str, task: str, number: int | None = None) -> Job:
        return Job(id=number, queue=of, lock=None, queueing_lock=None, task_name="lab.done", task_kwargs={"task": task})

    def _run(self, awaitable: Any) -> Any:
        return self._runner.run(_awaited(awaitable))


async def _awaited(awaitable: Any) -> Any:
    return await awaitable
