"""What a result was measured on: facts of the machine, the interpreter and the lab, and none about its owner.

A machine is its processor, cores, memory, kernel, interpreter and a label of the user's choice. No host name, user name
or path is captured, and `scrub` keeps them out of the messages that other code writes.
"""

from __future__ import annotations

import getpass
import os
import platform
import re
import socket
import subprocess
import sys
import sysconfig
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from lab.machine import CLOCKSOURCE, CPU, limits, read, whole

PACKAGES = ("pyperf", "numpy", "pyarrow", "pandas", "scipy", "memray")
"""The packages whose version can change a figure or its statistics."""

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LAB = Path(__file__).resolve().parent.parent
NO_NAMES = {"", "root", "localhost"}  # say nothing about anybody
ELLIPSIS = "…"

QUOTED_PATH = re.compile(r"""(['"])(?:/|~|[A-Za-z]:\\)[^'"]*?([^'"/\\]*)[/\\]?\1""")
BARE_PATH = re.compile(
    r"""(?:file://|(?<![\w.…/]))(?:[A-Za-z]:\\|/)(?:[^\s/\\:'"<>()]+[/\\])*([^\s/\\:'"<>()]+)[/\\]?"""
)


def capture(label: str | None = None, *, files: Path = Path("/")) -> dict[str, Any]:
    """Return what is known of this machine, this interpreter and this lab, as plain JSON; None means unknown.

    `label` is the user's own name for the machine (ValueError for a bad one). `files` is the root under which proc and
    sys are read, for tests. Sizes are bytes, `started_utc` is now.

    >>> capture("desk")["label"]
    'desk'
    """
    return {
        "label": None if label is None else check_label(label),
        **_machine(files),
        **_settings(files),
        **_interpreter(),
        "packages": {name: _version(name) for name in PACKAGES},
        **_commit(LAB),
        "started_utc": utc_now(),
    }


def machine_name(environment: dict[str, Any]) -> str:
    """Return the name of the machine's folder: its label, or a slug of what it is made of.

    >>> machine_name({"label": None, "processor": "AMD EPYC 7B13 64-Core Processor", "cores": 2,
    ...               "memory_bytes": 25_276_063_744, "implementation": "cpython", "python": "3.11.7"})
    'amd-epyc-7b13-2-cores-24-gib-python-3.11'
    """
    if environment.get("label"):
        return check_label(environment["label"])
    processor = environment.get("processor") or environment.get("architecture") or "unknown"
    processor = re.sub(r"\((r|tm)\)|@.*|\b(cpu|processor|\d+-core)\b", " ", processor.lower())
    cores, memory = environment.get("cores"), environment.get("memory_bytes")
    implementation = environment.get("implementation") or "cpython"
    version = ".".join(str(environment.get("python") or "unknown").split(".")[:2])
    free_threaded = (environment.get("python_build") or {}).get("free_threaded")
    parts = [
        processor,
        f"{cores} core{'s' if cores != 1 else ''}" if cores else "",
        f"{max(1, round(memory / 2**30))} gib" if memory else "",
        "python" if implementation == "cpython" else implementation,
        f"{version}t" if free_threaded else version,
    ]
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(parts).lower()).strip("-.")[:120]


def check_label(label: str) -> str:
    """Return a label for a machine unchanged; ValueError when it is not safe as the name of a folder.

    >>> check_label("desk-2.fast")
    'desk-2.fast'
    """
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        raise ValueError(f"{label!r} is no label: expected 1 to 64 letters, digits, dots, dashes or underscores")
    return label


def scrub(text: str) -> str:
    """Return `text` without absolute paths (their last part stays), this machine's host name and this user's name.

    O(length). Relative paths, keys of cases and web addresses stay.

    >>> scrub("No such file: '/home/ann/my queues/fast.py', see /tmp/x/log and timer/array/cycle")
    "No such file: '…/fast.py', see …/log and timer/array/cycle"
    """
    text = QUOTED_PATH.sub(rf"\1{ELLIPSIS}/\2\1", text)
    text = BARE_PATH.sub(rf"{ELLIPSIS}/\1", text)
    for name in sorted(_own_names(), key=len, reverse=True):  # tower.example.org before tower
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ELLIPSIS, text, flags=re.IGNORECASE)
    return text


def scrub_plain(plain: Any) -> Any:
    """Return plain JSON data with every text in it scrubbed, names left as they are; tuples become lists."""
    if isinstance(plain, str):
        return scrub(plain)
    if isinstance(plain, dict):
        return {name: scrub_plain(value) for name, value in plain.items()}
    return [scrub_plain(value) for value in plain] if isinstance(plain, (list, tuple)) else plain


def utc_now() -> str:
    """Return this instant as "2026-11-30T19:45:00Z", to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _own_names() -> set[str]:
    names = {socket.gethostname(), socket.gethostname().partition(".")[0], Path.home().name}
    with suppress(OSError, KeyError, ImportError):  # a user without a name gives nothing away
        names.add(getpass.getuser())
    return names - NO_NAMES


def _machine(files: Path) -> dict[str, Any]:
    cpuinfo = read(files / "proc/cpuinfo") or ""
    meminfo = re.search(r"^MemTotal:\s*(\d+) kB", read(files / "proc/meminfo") or "", re.MULTILINE)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": _processor(cpuinfo, files),
        "architecture": platform.machine() or None,
        "cores": len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)) or os.cpu_count(),
        "cores_usable": usable,
        "memory_bytes": int(meminfo[1]) * 1024 if meminfo else whole(_sysctl("hw.memsize")),
        "system": platform.system() or None,
        "kernel": scrub(platform.release()) or None,
        "virtual": _virtual(cpuinfo, files),
        "libc": " ".join(platform.libc_ver()).strip() or None,
    }


def _processor(cpuinfo: str, files: Path) -> str | None:
    for field in ("model name", "Model", "cpu model", "cpu"):
        found = re.search(rf"^{field}\s*:\s*(\S.*)$", cpuinfo, re.MULTILINE)
        if found:
            return " ".join(found[1].split())
    board = read(files / "proc/device-tree/model")
    name = (board or "").strip("\0 \n") or _sysctl("machdep.cpu.brand_string") or platform.processor()
    return name or platform.machine() or None


def _virtual(cpuinfo: str, files: Path) -> bool | None:
    """Return whether this is a virtual machine: the processor's own flag, else what firmware and kernel say."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if flags:
        return "hypervisor" in flags[1].split()
    if (files / "sys/hypervisor/type").exists():
        return True
    product = read(files / "sys/class/dmi/id/product_name")
    if product is not None:
        return bool(re.search(r"kvm|virtual|vmware|qemu|xen|bhyve|hvm", product, re.IGNORECASE))
    told = _sysctl("kern.hv_vmm_present")
    return None if told is None else told == "1"


def _settings(files: Path) -> dict[str, Any]:
    boost = whole(read(files / CPU / "cpufreq/boost"))
    no_turbo = whole(read(files / CPU / "intel_pstate/no_turbo"))
    return {
        "governor": read(files / CPU / "cpu0/cpufreq/scaling_governor"),
        "boost": bool(boost) if boost is not None else None if no_turbo is None else not no_turbo,
        "aslr": whole(read(files / "proc/sys/kernel/randomize_va_space")),
        "clocksource": read(files / CLOCKSOURCE / "current_clocksource"),
        **limits(files),
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
    }


def _interpreter() -> dict[str, Any]:
    arguments = sysconfig.get_config_var("CONFIG_ARGS")  # holds paths, so only what it says of the build is kept
    branch, date = platform.python_build()
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "python_build": {
            "branch": branch,
            "date": date,
            "compiler": platform.python_compiler(),
            "optimized": None if arguments is None else "--enable-optimizations" in arguments,
            "link_time_optimized": None if arguments is None else "--with-lto" in arguments,
            "debug": hasattr(sys, "gettotalrefcount"),
            "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        },
    }


def _commit(folder: Path) -> dict[str, Any]:
    """Return the commit that `folder` is checked out at and whether it was changed since; None outside a checkout."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if top is None or commit is None or Path(top).resolve() != folder:  # an installed lab in somebody else's checkout
        return {"commit": None, "dirty": None}
    changes = _git(folder, "status", "--porcelain", "--", ".", ":(exclude)results")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return _output(["git", "-C", str(folder), *arguments], own)


def _sysctl(name: str) -> str | None:
    return _output(["sysctl", "-n", name]) if sys.platform == "darwin" else None


def _output(command: list[str], environment: dict[str, str] | None = None) -> str | None:
    """Return what a command prints; None when it is not there, fails or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment, check=False)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
