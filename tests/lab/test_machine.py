"""What the kernel's files say of four made-up machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.machine import facts, limits, steal_share
from tests.lab.machines import CPU, MACHINES, put

SAID: dict[str, dict[str, Any]] = {
    "bare metal": {
        "processor": 3,
        "cpu_quota": None,
        "memory_limit_bytes": None,
        "huge_pages": "always",
        "load": 0.04,
        "memory_available_bytes": 60 * 2**30,
        "swap_bytes": 8 * 2**30,
        "swap_used_bytes": 0,
        "steal_share": 0.0,
        "siblings": [1],
        "frequencies_mhz": [5100.0, 3000.0, 5100.0, 3000.0],
        "clear_refs": True,
        "clocksources": ["tsc", "hpet", "acpi_pm"],
        "perf_paranoid": 4,
    },
    "virtual": {
        "processor": 1,
        "cpu_quota": None,
        "memory_limit_bytes": 2 * 2**30,
        "huge_pages": "madvise",
        "load": 0.7,
        "memory_available_bytes": 3 * 2**30,
        "swap_bytes": 0,
        "swap_used_bytes": 0,
        "steal_share": 0.02,
        "siblings": [],
        "frequencies_mhz": [2445.406] * 2,
        "clear_refs": True,
        "clocksources": None,
        "perf_paranoid": None,
    },
    "limited": {
        "processor": 7,
        "cpu_quota": 0.5,
        "memory_limit_bytes": 512 * 2**20,
        "huge_pages": "never",
        "load": 7.5,
        "memory_available_bytes": 2**29,
        "swap_bytes": 2 * 2**30,
        "swap_used_bytes": 2**30,
        "clear_refs": False,
        "siblings": None,
        "frequencies_mhz": [2700.0] * 8,
        "clocksources": None,
        "perf_paranoid": None,
        "steal_share": 1500 / 1000010,
    },
    "nothing readable": {
        "processor": None,
        "cpu_quota": None,
        "memory_limit_bytes": None,
        "huge_pages": None,
        "load": None,
        "memory_available_bytes": None,
        "swap_bytes": None,
        "swap_used_bytes": None,
        "steal_share": None,
        "siblings": None,
        "frequencies_mhz": None,
        "clear_refs": False,
        "clocksources": None,
        "perf_paranoid": None,
    },
}


@pytest.mark.parametrize("name", MACHINES)
def test_the_files_of_a_machine_are_read_and_what_is_not_there_is_unknown(name: str, tmp_path: Path) -> None:
    assert facts(put(tmp_path / "root", MACHINES[name]), SAID[name]["processor"]) == SAID[name]


@pytest.mark.parametrize(
    ("text", "others"), [("0-3", [0, 1, 3]), ("2", []), ("2,6-7", [6, 7]), ("?", None), ("", None)]
)
def test_siblings_come_as_lists_and_ranges(text: str, others: list[int] | None, tmp_path: Path) -> None:
    root = put(tmp_path, {f"{CPU}/cpu2/topology/thread_siblings_list": f"{text}\n"})
    assert facts(root, 2)["siblings"] == others


def test_a_group_that_a_container_does_not_see_is_what_is_mounted(tmp_path: Path) -> None:
    root = put(
        tmp_path,
        {
            "proc/self/cgroup": "0::/docker/4711\n",
            "sys/fs/cgroup/cpu.max": "150000 100000",
            "sys/fs/cgroup/memory.max": "1073741824",
        },
    )
    assert limits(root) == {"cpu_quota": 1.5, "memory_limit_bytes": 2**30, "huge_pages": None}


def test_a_quota_of_the_first_version_counts(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "3:cpuacct,cpu:/a\n", "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "25000"}
    root = put(tmp_path, {**files, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000"})
    assert limits(root)["cpu_quota"] == 0.25


@pytest.mark.parametrize("text", ["", "cpu  1 2 3\n", "cpu  0 0 0 0 0 0 0 0\n", "intr 5\n"])
def test_a_stat_file_that_tells_too_little_tells_nothing(text: str, tmp_path: Path) -> None:
    assert steal_share(put(tmp_path, {"proc/stat": text})) is None


def test_this_machine_can_be_read() -> None:
    found = facts(processor=0)
    assert found["load"] is None or found["load"] >= 0
    assert found["steal_share"] is None or 0 <= found["steal_share"] < 1
