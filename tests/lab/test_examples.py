"""The examples in the docstrings of `lab` run and say the truth."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name", ["units", "case", "environment", "rank", "sample", "machine", "disturbance", "memory", "flame", "doctor"]
)
def test_the_examples_of_a_module_run(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"lab.{name}"))
    assert failed == 0
    assert tried > 0
