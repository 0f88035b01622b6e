"""Machines that are not there: the files that their kernels would show, put under a root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

CPU = "sys/devices/system/cpu"
KIB = 1024


def put(root: Path, files: Mapping[str, str]) -> Path:
    """Write the files under `root` and return it."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def cpuinfo(cores: int, model: str, flags: str, mhz: float | None = None) -> str:
    """Return the text of /proc/cpuinfo for so many processors."""
    speed = "" if mhz is None else f"cpu MHz\t\t: {mhz:.3f}\n"
    return "\n".join(
        f"processor\t: {core}\nmodel name\t: {model}\n{speed}flags\t\t: {flags}\n" for core in range(cores)
    )


def meminfo(total_gib: int, available_gib: float, swap_gib: int = 0, swap_free_gib: float = 0) -> str:
    """Return the text of /proc/meminfo."""
    sizes = {"MemTotal": total_gib, "MemAvailable": available_gib, "SwapTotal": swap_gib, "SwapFree": swap_free_gib}
    return "".join(f"{name}:{round(gib * KIB * KIB):>12} kB\n" for name, gib in sizes.items())


BARE_METAL = {
    "proc/cpuinfo": cpuinfo(4, "AMD Ryzen 9 7950X 16-Core Processor", "fpu vme sse2"),
    "proc/meminfo": meminfo(64, 60, swap_gib=8, swap_free_gib=8),
    "proc/loadavg": "0.04 0.10 0.20 1/300 4000\n",
    "proc/stat": "cpu  1000 0 500 90000 10 0 0 0 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\n",
    "proc/self/cgroup": "0::/user.slice/session-2.scope\n",
    "proc/self/clear_refs": "",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/sys/kernel/perf_event_paranoid": "4\n",
    f"{CPU}/cpufreq/boost": "1\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave\n",
    **{f"{CPU}/cpu{core}/cpufreq/scaling_cur_freq": f"{khz}\n" for core, khz in enumerate((5100000, 3000000) * 2)},
    **{f"{CPU}/cpu{core}/topology/thread_siblings_list": f"{core % 2},{core % 2 + 2}\n" for core in range(4)},
    "sys/class/dmi/id/product_name": "Desk\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm\n",
    "sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
    "sys/fs/cgroup/user.slice/memory.max": "max\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
}
"""A desk: boost, a governor that follows the load, two threads a core, a slow clock source, huge pages."""

VIRTUAL = {
    "proc/cpuinfo": cpuinfo(2, "AMD EPYC", "fpu vme hypervisor sse2", mhz=2445.406),
    "proc/meminfo": meminfo(24, 3),
    "proc/loadavg": "0.70 0.50 0.40 2/90 77\n",
    "proc/stat": "cpu  6000 0 1000 2700 100 0 0 200 0 0\n",
    "proc/self/cgroup": "9:name=systemd:/\n4:memory:/job/7\n1:cpu,cpuacct:/\n0::/\n",
    "proc/self/clear_refs": "",
    "proc/sys/kernel/randomize_va_space": "0\n",
    **{f"{CPU}/cpu{core}/topology/thread_siblings_list": f"{core}\n" for core in range(2)},
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "kvm-clock\n",
    "sys/fs/cgroup/memory/job/7/memory.limit_in_bytes": f"{2**63 - 4096}\n",
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{2 * 2**30}\n",
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
    "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
}
"""A guest whose host takes 2 % of its time, under control groups of the first version."""

LIMITED = {
    "proc/cpuinfo": cpuinfo(8, "Intel(R) Xeon(R) Platinum 8481C", "fpu vme sse2", mhz=2700.0),
    "proc/meminfo": meminfo(32, 0.5, swap_gib=2, swap_free_gib=1),
    "proc/loadavg": "7.50 6.00 5.00 9/900 4000\n",
    "proc/stat": "cpu  1000 0 500 997000 10 0 0 1500 0 0\n",
    "proc/self/cgroup": "0::/pod/box\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/fs/cgroup/pod/box/cpu.max": "400000 100000\n",
    "sys/fs/cgroup/pod/cpu.max": "50000 100000\n",
    "sys/fs/cgroup/pod/box/memory.max": f"{512 * 2**20}\n",
    "sys/fs/cgroup/pod/memory.max": f"{8 * 2**30}\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n",
}
"""A box that may use half a processor and 512 MiB, on a host where much goes on."""

MACHINES: dict[str, dict[str, str]] = {
    "bare metal": BARE_METAL,
    "virtual": VIRTUAL,
    "limited": LIMITED,
    "nothing readable": {},
}

KNOWN: dict[str, dict[str, Any]] = {
    "bare metal": {"cores_usable": 4, "system": "Linux", "kernel": "6.8.0", "python_build": {"optimized": True}},
    "virtual": {"cores_usable": 1, "system": "Linux", "kernel": "6.1.0", "python_build": {"optimized": False}},
    "limited": {"cores_usable": 8, "system": "Linux", "kernel": "5.15.0", "python_build": {"debug": True}},
    "nothing readable": {
        "processor": "Apple M2",
        "cores": 8,
        "cores_usable": 8,
        "memory_bytes": 16 * 2**30,
        "virtual": None,
        "system": "Darwin",
        "kernel": "23.4.0",
        "python_build": {"optimized": None},
        "load_average": [1.5, 1, 1],
    },
}
"""What no file says: it comes from the process that asks."""
