"""The table of contents: which contestants there are, family by family, and how to get one.

Nothing is imported until `load` is asked, so listing costs nothing and a worker loads only the queue it measures.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SUBJECTS: dict[str, dict[str, str]] = {
    "timer": {
        "linked": "queues.timer.linked:Linked",
        "linked-known-tail": "queues.timer.linked_known_tail:LinkedKnownTail",
        "array": "queues.timer.array:Array",
        "array-naive": "queues.timer.array_naive:ArrayNaive",
        "heap": "queues.timer.heap:Heap",
        "sorted": "queues.timer.sorted:Sorted",
        "deque": "queues.timer.deque:Deque",
        "buckets": "queues.timer.buckets:Buckets",
        "markers": "queues.timer.markers:Markers",
        "wheel": "queues.timer.wheel:Wheel",
        "chunked": "queues.timer.chunked:Chunked",
    },
    "advisory": {
        "sorted-each-call": "queues.advisory.sorted_each_call:SortedEachCall",
        "heap": "queues.advisory.heap:Heap",
    },
    "ticker": {
        "channel": "queues.pacing.ticker_channel:ChannelTicker",
        "arithmetic": "queues.pacing.ticker_arithmetic:ArithmeticTicker",
        "channel-asyncio": "queues.pacing.ticker_channel_asyncio:ChannelAsyncioTicker",
        "arithmetic-asyncio": "queues.pacing.ticker_arithmetic_asyncio:ArithmeticAsyncioTicker",
    },
    "limiter": {
        "semaphore": "queues.pacing.limiter_semaphore:SemaphoreLimiter",
        "arithmetic": "queues.pacing.limiter_arithmetic:ArithmeticLimiter",
        "semaphore-asyncio": "queues.pacing.limiter_semaphore_asyncio:SemaphoreAsyncioLimiter",
        "arithmetic-asyncio": "queues.pacing.limiter_arithmetic_asyncio:ArithmeticAsyncioLimiter",
    },
    "events": {
        "sqlite": "queues.events.sqlite:Sqlite",
        "sqlite-relaxed": "queues.events.sqlite:SqliteRelaxed",
        "postgresql": "queues.events.postgresql:Postgresql",
        "postgresql-relaxed": "queues.events.postgresql:PostgresqlRelaxed",
        "mariadb": "queues.events.mariadb:Mariadb",
        "mariadb-relaxed": "queues.events.mariadb:MariadbRelaxed",
    },
    "cooperative": {
        "green": "queues.peers.pacing_gevent:GreenThreads",
        "threads": "queues.pacing.crowds:Threads",
        "asyncio": "queues.pacing.crowds:Tasks",
    },
}
"""family -> subject -> "module:Class"."""

PEERS: dict[str, dict[str, str]] = {
    "timer": {
        "kombu": "queues.peers.kombu_timer:KombuTimer",
        "sched": "queues.peers.sched_scheduler:SchedScheduler",
        "apscheduler": "queues.peers.apscheduler_store:ApschedulerStore",
        "asyncio-heap": "queues.peers.asyncio_heap:AsyncioHeap",
    },
    "advisory": {
        "sched": "queues.peers.advisory_sched:AdvisorySched",
        "apscheduler": "queues.peers.advisory_apscheduler:AdvisoryApscheduler",
    },
    "ticker": {
        "naive-sleep": "queues.peers.pacing_naive:NaiveSleep",
        "call-later": "queues.peers.pacing_call_later:CallLater",
        "bare-sleep": "queues.peers.pacing_bare:BareSleep",
        "bare-asyncio-sleep": "queues.peers.pacing_bare:BareAsyncioSleep",
    },
    "limiter": {
        "aiolimiter": "queues.peers.pacing_aiolimiter:Aiolimiter",
        "pyrate-limiter": "queues.peers.pacing_pyrate:PyrateLimiter",
        "pyrate-gcra": "queues.peers.pacing_pyrate:PyrateGcra",
        "limits-fixed": "queues.peers.pacing_limits:FixedWindow",
        "limits-moving": "queues.peers.pacing_limits:MovingWindow",
        "limits-sliding": "queues.peers.pacing_limits:SlidingCounter",
    },
    "events": {
        "huey": "queues.peers.events_huey:Huey",
        "procrastinate": "queues.peers.events_procrastinate:Procrastinate",
    },
}
"""The same for what people use today: adapters that need not keep the whole contract."""

DURABLE: dict[str, dict[str, str]] = {
    "timer": {
        "sqlite": "queues.timer.sqlite:SQLite",
        "sqlite-full": "queues.timer.sqlite:SQLiteFull",
        "postgres": "queues.timer.postgres:Postgres",
        "postgres-async": "queues.timer.postgres:PostgresAsync",
        "redis": "queues.timer.redis:RedisQueue",
    },
}
"""Our subjects that outlive the process: they keep JSON and no objects, and cost a transaction a call."""

ENGINE_OF: dict[str, str] = {
    "queues.timer.postgres:Postgres": "postgresql",
    "queues.timer.postgres:PostgresAsync": "postgresql",
    "queues.timer.redis:RedisQueue": "redis",
    "queues.events.postgresql:Postgresql": "postgresql",
    "queues.events.postgresql:PostgresqlRelaxed": "postgresql",
    "queues.events.mariadb:Mariadb": "mariadb",
    "queues.events.mariadb:MariadbRelaxed": "mariadb-relaxed",
    "queues.peers.events_procrastinate:Procrastinate": "postgresql",
}
"""target -> the engine of which it needs a server, for those that need one; "-relaxed" behind it: one whose commits
need not be on disk."""

CONFORMANCE: dict[str, str] = {
    "timer": "queues.conformance:conform",
    "advisory": "queues.advisory.promises:conform",
    "ticker": "queues.pacing.promises:conform_ticker",
    "limiter": "queues.pacing.promises:conform_limiter",
    "events": "queues.events.promises:conform",
}
"""family -> the function that checks every promise of its contract: (class, *, seed, progress) -> outcomes."""


def registered(family: str) -> dict[str, str]:
    """Return name -> "module:Class" of everything in `family`: our subjects, then the durable ones, then the peers.

    Raises LookupError naming what there is.

    >>> list(registered("advisory"))
    ['sorted-each-call', 'heap', 'sched', 'apscheduler']
    """
    if family not in SUBJECTS:
        raise LookupError(f"no family {family!r}: there are {', '.join(SUBJECTS)}")
    return {**SUBJECTS[family], **DURABLE.get(family, {}), **PEERS.get(family, {})}


def load(family: str, name: str) -> Any:
    """Return the class registered as `name` in `family`, a subject or a peer.

    Raises LookupError naming what there is. `"module:Class"` loads any importable class instead.

    >>> load("timer", "array").__name__
    'Array'
    """
    return load_target(target(family, name))


def target(family: str, name: str) -> str:
    """Return the "module:Class" of the subject or peer `name` in `family`; one that is given as such is returned as is.

    Raises LookupError naming what there is.

    >>> target("timer", "array"), target("timer", "sched")
    ('queues.timer.array:Array', 'queues.peers.sched_scheduler:SchedScheduler')
    >>> target("timer", "rope")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    LookupError: no subject 'rope' in family 'timer': there are linked, ..., sqlite, ..., redis
    """
    if ":" in name:
        return name
    try:
        subjects = SUBJECTS[family] | PEERS.get(family, {}) | DURABLE.get(family, {})
    except KeyError:
        raise LookupError(f"no family {family!r}: there are {', '.join(SUBJECTS)}") from None
    try:
        return subjects[name]
    except KeyError:
        raise LookupError(f"no subject {name!r} in family {family!r}: there are {', '.join(subjects)}") from None


def load_target(target: str) -> Any:
    """Return the object that "package.module:Class" names, importing the module.

    Raises LookupError when the module has no such name, and whatever the import raises.
    """
    module_name, _, attribute = target.partition(":")
    module = import_module(module_name)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise LookupError(f"module {module_name!r} has no {attribute!r}: expected the name of a queue class") from None
