"""How many workers run at once, in this process: a thread each, or a task each of one loop.

A crowd has `run(work, workers)`, which returns when all have ended, `awaited` (whether `work` is a coroutine function),
and `bound`, the places that did not take part. queues/peers/pacing_gevent.py has the crowd of green threads.
"""

from __future__ import annotations

import asyncio
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

STACK_BYTES = 256 << 10
"""Of a thread: ten thousand of the usual size would not fit everywhere."""


class Threads:
    """A thread for every worker.

    >>> done = []
    >>> Threads().run(lambda: done.append(1), 3)
    >>> len(done)
    3
    """

    awaited = False
    bound: tuple[str, ...] = ()

    def run(self, work: Callable[[], object], workers: int) -> None:
        """Run `work` in so many threads, each of which begins when it is started: all at once would trip over the GIL.

        RuntimeError names how many there are when the system starts no more; those run to their end.
        """
        before = threading.stack_size(STACK_BYTES)
        threads = [threading.Thread(target=work) for _ in range(workers)]
        started = 0
        try:
            for thread in threads:
                thread.start()
                started += 1
        except RuntimeError:
            raise RuntimeError(f"this machine starts no more than {started} threads") from None
        finally:
            threading.stack_size(before)
            for thread in threads[:started]:
                thread.join()


class Tasks:
    """A task for every worker; the work has to be written for asyncio.

    >>> done = []
    >>> async def work():
    ...     done.append(1)
    >>> Tasks().run(work, 3)
    >>> len(done)
    3
    """

    awaited = True
    bound: tuple[str, ...] = ()

    def run(self, work: Callable[[], Awaitable[object]], workers: int) -> None:
        """Run `work` in so many tasks of a loop of its own."""

        async def main() -> None:
            await asyncio.gather(*(work() for _ in range(workers)))

        asyncio.run(main())
