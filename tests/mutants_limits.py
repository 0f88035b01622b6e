"""A pytest plugin for `tests/mutants.py` alone: examples that are the same every time, no search for smaller ones, and
a limit on the time and the memory of every test.

A mutant that loops for ever would take the time of all its tests together; here it ends when one test has used SECONDS
of the processor. Time of the processor, because others may need the machine.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, Phase, settings

SECONDS = 8.0
"""Of the processor, for one test: each needs a second or two as it is."""

MEMORY = 6 << 30
"""Bytes of address space: a mutant that fills a list for ever ends as an error, and not with the machine."""

TIMEOUT = 36
"""The exit code that mutmut reads as: it took too long."""

settings.register_profile(
    "mutants",
    max_examples=40,
    phases=(Phase.explicit, Phase.generate),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("mutants")


def is_mutant(under_test: str) -> bool:
    """Return whether mutmut's variable names a mutant: it also stands for the runs on the code as it is.

    >>> is_mutant("lab.units.x_format_ns__mutmut_1"), is_mutant("stats"), is_mutant("")
    (True, False, False)
    """
    return "__mutmut_" in under_test


def give_up(number: int, frame: FrameType | None) -> NoReturn:
    """End the process at once: an exception could be caught by the very code that loops."""
    os._exit(TIMEOUT)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Put a limit on the test that follows, when it runs on a mutant."""
    if not is_mutant(os.environ.get("MUTANT_UNDER_TEST", "")):
        return (yield)
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if most < 0 else min(MEMORY, most), most))
    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
