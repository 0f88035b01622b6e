"""What the kernel's files say of a machine that may disturb a measurement: limits, load, neighbours, swap, frequency.

Everything is read under a root, so that a test can put another machine there. None is what the files do not tell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CPU = "sys/devices/system/cpu"
CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0"
CGROUP = "sys/fs/cgroup"
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
UNLIMITED = 2**60  # a v1 group without a limit has a number just under 2**63


def facts(files: Path = Path("/"), processor: int | None = None) -> dict[str, Any]:
    """Return what the files under the root `files` say, as plain JSON; `processor` is the one that workers run on.

    Sizes are bytes, shares are of 1, `cpu_quota` is in processors, frequencies are in MHz.
    """
    return {
        "processor": processor,
        **limits(files),
        **_memory(files),
        "load": _load(files),
        "steal_share": steal_share(files),
        "siblings": None if processor is None else _siblings(files, processor),
        "frequencies_mhz": _frequencies(files),
        "clocksources": (read(files / CLOCKSOURCE / "available_clocksource") or "").split() or None,
        "clear_refs": _can_write(files / "proc/self/clear_refs"),
        "perf_paranoid": _signed(read(files / "proc/sys/kernel/perf_event_paranoid")),
    }


def limits(files: Path = Path("/")) -> dict[str, Any]:
    """Return what control groups allow and how memory comes in pages: facts that belong to every result.

    `cpu_quota` and `memory_limit_bytes` are the smallest on the way from the process's group to the root, None for no
    limit; `huge_pages` is always, madvise or never.
    """
    chosen = re.search(r"\[(\w+)\]", read(files / HUGE_PAGES) or "")
    quotas = [*_quotas_v2(files), *_quotas_v1(files)]
    bounds = [whole(read(group / name)) for group, name in _memory_groups(files)]
    bounded = [bound for bound in bounds if bound is not None and bound < UNLIMITED]
    return {
        "cpu_quota": min(quotas, default=None),
        "memory_limit_bytes": min(bounded, default=None),
        "huge_pages": chosen[1] if chosen else None,
    }


def steal_share(files: Path = Path("/")) -> float | None:
    """Return the share of all processor time since the start of the system that the host kept for others."""
    numbers = re.match(r"cpu +([\d ]+)", read(files / "proc/stat") or "")
    ticks = list(map(int, numbers[1].split()[:8])) if numbers else []  # guests are in user already
    total = sum(ticks)
    return ticks[7] / total if len(ticks) == 8 and total else None


def read(path: Path) -> str | None:
    """Return the text of a file without the blanks around it; None where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def whole(text: str | None) -> int | None:
    """Return the whole number that a text is, or None.

    >>> whole("42"), whole("max"), whole(None)
    (42, None, None)
    """
    return int(text) if text and text.isdecimal() else None


def _signed(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"-?\d+", text) else None


def _groups(files: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the process's group, innermost first, and of all groups around it; "" is version 2.

    Inside a container the path that the kernel names may not exist: what is mounted there is then the group itself.
    """
    for line in (read(files / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            parts = Path(path.strip("/")).parts
            for root in (files / CGROUP / (controllers or "."), files / CGROUP / (controller or "unified")):
                for depth in range(len(parts), -1, -1):
                    yield root.joinpath(*parts[:depth])


def _quotas_v2(files: Path) -> Iterator[float]:
    for group in _groups(files, ""):
        quota, _, period = (read(group / "cpu.max") or "").partition(" ")
        if quota.isdecimal() and period.isdecimal() and int(period):
            yield int(quota) / int(period)


def _quotas_v1(files: Path) -> Iterator[float]:
    for group in _groups(files, "cpu"):
        quota, period = whole(read(group / "cpu.cfs_quota_us")), whole(read(group / "cpu.cfs_period_us"))
        if quota and period:  # no limit is -1, which is no whole number here
            yield quota / period


def _memory_groups(files: Path) -> Iterator[tuple[Path, str]]:
    for group in _groups(files, ""):
        yield group, "memory.max"
    for group in _groups(files, "memory"):
        yield group, "memory.limit_in_bytes"


def _memory(files: Path) -> dict[str, Any]:
    sizes = dict(re.findall(r"^(\w+):\s*(\d+) kB", read(files / "proc/meminfo") or "", re.MULTILINE))
    size = {name: int(kib) * 1024 for name, kib in sizes.items()}
    swap, free = size.get("SwapTotal"), size.get("SwapFree")
    return {
        "memory_available_bytes": size.get("MemAvailable"),
        "swap_bytes": swap,
        "swap_used_bytes": None if swap is None or free is None else swap - free,
    }


def _load(files: Path) -> float | None:
    found = re.match(r"\d+\.\d+", read(files / "proc/loadavg") or "")
    return float(found[0]) if found else None


def _siblings(files: Path, processor: int) -> list[int] | None:
    """Return the other hardware threads of the core of `processor`, from a list such as "0,64" or "0-1"."""
    text = read(files / CPU / f"cpu{processor}" / "topology/thread_siblings_list")
    if not text or not re.fullmatch(r"\d+([-,]\d+)*", text):
        return None
    found: set[int] = set()
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return sorted(found - {processor})


def _frequencies(files: Path) -> list[float] | None:
    khz = [whole(read(path)) for path in sorted((files / CPU).glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))]
    found = [value / 1000 for value in khz if value]
    shown = re.findall(r"^cpu MHz\s*:\s*([\d.]+)", read(files / "proc/cpuinfo") or "", re.MULTILINE)
    return found or [float(mhz) for mhz in shown] or None


def _can_write(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True
