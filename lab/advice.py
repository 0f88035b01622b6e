"""What each fact of a machine means for a measurement: one sentence a finding, with what to do about it.

Every function takes the facts of `lab.environment.capture` and of `lab.machine.facts`, and is pure. The module is
longer than 300 lines because each topic has its own function, with what to do in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.units import format_bytes

Facts = Mapping[str, Any]

OK, NOTE, WARNING = "ok", "note", "warning"
"""fine; good to know; will disturb figures."""

GIB = 2**30
FAST_CLOCKSOURCES = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "riscv_clocksource")


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence on one topic, and how much it matters: ok, note or warning."""

    topic: str
    mark: str
    sentence: str


Check = Callable[[Facts, Facts], Finding]


def findings(environment: Facts, machine: Facts) -> Iterator[Finding]:
    """Yield what the facts mean, always the same topics in the same order."""
    for check in CHECKS:
        yield check(environment, machine)


def processor(environment: Facts, machine: Facts) -> Finding:
    """One processor for the queue and another one for the lab."""
    name, cores, usable = environment["processor"], environment["cores"], environment["cores_usable"]
    known = f"{name} with {cores} core{'' if cores == 1 else 's'}, {usable} of them usable"
    if usable > 1 and machine["processor"] is None:
        return Finding("processor", NOTE, f"{known}: workers cannot be pinned here, the system moves them about.")
    if usable > 1:
        return Finding("processor", OK, f"{known}: workers are pinned to one, the lab runs on the others.")
    return Finding(
        "processor",
        WARNING,
        f"{known}: the lab and its workers put each other off, which is in every tail; "
        "allow a second one (taskset, or the settings of the container).",
    )


def memory(environment: Facts, machine: Facts) -> Finding:
    """Enough for the largest queue, or it is measured with the disk behind it."""
    available = machine["memory_available_bytes"]
    if available is None:
        return Finding("memory", NOTE, "Available memory is not told here: look yourself that no queue has to swap.")
    known = f"{format_bytes(available)} of memory are available"
    if available < GIB:
        return Finding("memory", WARNING, f"{known}: 200,000 messages may not fit beside the lab; end other programs.")
    if available < 4 * GIB:
        return Finding("memory", NOTE, f"{known}: enough for the standard suite, little for 2,000,000 messages (full).")
    return Finding("memory", OK, f"{known}: enough for every suite.")


def swap(environment: Facts, machine: Facts) -> Finding:
    """Memory on the disk is a million times slower."""
    there, used = machine["swap_bytes"], machine["swap_used_bytes"]
    if there is None:
        return Finding("swap", NOTE, "Swap is not told here: executions with page faults to the disk are set aside.")
    if not there:
        return Finding("swap", OK, "There is no swap: no queue is measured with the disk behind it.")
    if used:
        many = f"{format_bytes(used)} of swap are in use"
        return Finding("swap", WARNING, f"{many}: memory is short and calls may wait for the disk; `swapoff -a`.")
    return Finding("swap", OK, f"{format_bytes(there)} of swap are there and unused.")


def system(environment: Facts, machine: Facts) -> Finding:
    """Only Linux tells all that the lab looks at."""
    name, kernel = environment["system"], environment["kernel"]
    if name == "Linux":
        return Finding("system", OK, f"Linux {kernel}: it tells of faults, switches, steal and resident memory.")
    lacks = "resident memory, peaks and steal are not told and stay empty; measure memory on Linux"
    return Finding("system", NOTE, f"{name} {kernel}: {lacks}.")


def virtual(environment: Facts, machine: Facts) -> Finding:
    """A virtual machine has a host, and the host has others."""
    if environment["virtual"] is None:
        return Finding("virtual", NOTE, "Nobody says whether this is a virtual machine: compare runs of it with care.")
    if environment["virtual"]:
        return Finding(
            "virtual",
            NOTE,
            "This is a virtual machine: its host may take the processor away or change its speed unseen; "
            "compare subjects within one run, and read how many executions a run has set aside.",
        )
    return Finding("virtual", OK, "This is no virtual machine: nobody below takes the processor away.")


def steal(environment: Facts, machine: Facts) -> Finding:
    """What the host has taken since the system began."""
    share = machine["steal_share"]
    if share is None:
        return Finding("steal", NOTE, "Steal is not told here: time that a host takes away looks like a slow call.")
    known = f"The host has kept {100 * share:.2g} % of the processor time since the start"
    if share > 0.01:
        return Finding("steal", WARNING, f"{known}: tails are partly its own; measure at a quieter time or elsewhere.")
    if share > 0.001:
        return Finding("steal", NOTE, f"{known}: executions that it hits are set aside and measured again.")
    return Finding("steal", OK, f"{known}: too little to see.")


def load(environment: Facts, machine: Facts) -> Finding:
    """Others at work share processors, caches and memory."""
    average, cores = machine["load"], environment["cores"] or 1
    if average is None and environment["load_average"]:
        average = environment["load_average"][0]
    if average is None:
        return Finding("load", NOTE, "The load is not told here: see to it that nothing else is at work.")
    known = f"The load is {average:.2f} on {cores} core{'' if cores == 1 else 's'}"
    if average > cores / 2:
        return Finding("load", WARNING, f"{known}: others are at work and every tail shows it; stop them or wait.")
    if average > 0.5:
        return Finding("load", NOTE, f"{known}: something else is at work; for a run to keep, stop it or wait.")
    return Finding("load", OK, f"{known}: the machine is idle.")


def governor(environment: Facts, machine: Facts) -> Finding:
    """A frequency that follows the load makes first calls slow."""
    name = environment["governor"]
    if name is None:
        return Finding(
            "governor", NOTE, "The frequency policy is not told here: the host or the firmware decides about the speed."
        )
    if name == "performance":
        return Finding("governor", OK, "The governor is performance: the frequency does not follow the load.")
    return Finding(
        "governor",
        WARNING,
        f"The governor is {name}: the frequency follows the load, so that the same call has several times; "
        "`cpupower frequency-set -g performance` for as long as you measure.",
    )


def boost(environment: Facts, machine: Facts) -> Finding:
    """Above its nominal frequency a processor depends on heat and on its other cores."""
    on = environment["boost"]
    if on is None:
        return Finding("boost", NOTE, "Boost is not told here: the speed may depend on heat and on other cores.")
    if on:
        return Finding(
            "boost",
            NOTE,
            "Boost is on: the speed depends on heat and on other cores; for the steadiest figures switch it off "
            "(0 into cpufreq/boost or 1 into intel_pstate/no_turbo, under /sys/devices/system/cpu).",
        )
    return Finding("boost", OK, "Boost is off: the frequency stays nominal.")


def frequency(environment: Facts, machine: Facts) -> Finding:
    """What the cores run at just now."""
    found = machine["frequencies_mhz"]
    if not found:
        return Finding("frequency", NOTE, "The frequency is not told here: only the null calls show a change of speed.")
    low, high = min(found), max(found)
    if high > 1.1 * low:
        between = f"The cores run at {low:.0f} to {high:.0f} MHz just now"
        return Finding("frequency", NOTE, f"{between}: each execution records its own in frequency_mhz.")
    return Finding("frequency", OK, f"All cores are shown at {high:.0f} MHz.")


def layout(environment: Facts, machine: Facts) -> Finding:
    """One address layout is one throw of the dice."""
    randomised = environment["aslr"]
    if randomised is None:
        return Finding("layout", NOTE, "Nobody says whether addresses are random: measure more processes a case.")
    if randomised:
        return Finding("layout", OK, "Addresses are random: each process has its own layout and a case averages over.")
    return Finding(
        "layout",
        NOTE,
        "Addresses are not random: all processes share one layout, whose luck is in every figure; "
        "`sysctl kernel.randomize_va_space=2`.",
    )


def interpreter(environment: Facts, machine: Facts) -> Finding:
    """The build decides what every bytecode costs."""
    build = environment["python_build"] or {}
    name = f"{environment['implementation']} {environment['python']}"
    if build.get("debug"):
        wrong = "is a debug build: it checks itself at every step and no figure of it means anything"
        return Finding("interpreter", WARNING, f"{name} {wrong}; take a release build.")
    if build.get("optimized") is False:
        wrong = "was built without --enable-optimizations: it is slower than what most people run"
        return Finding("interpreter", WARNING, f"{name} {wrong}; compare with it only what it has measured itself.")
    if build.get("free_threaded"):
        other = "is free-threaded: its locks and counts cost other than those of the usual build"
        return Finding("interpreter", NOTE, f"{name} {other}; its runs have a folder of their own.")
    if build.get("optimized") is None:
        return Finding("interpreter", NOTE, f"{name} does not tell how it was built: compare it only with itself.")
    return Finding("interpreter", OK, f"{name} is an optimised release build.")


def clocksource(environment: Facts, machine: Facts) -> Finding:
    """What the kernel reads time from."""
    name, others = environment["clocksource"], machine["clocksources"]
    if name is None:
        return Finding("clocksource", NOTE, "The source of time is not told here: see what a read of the clocks costs.")
    if name in FAST_CLOCKSOURCES:
        return Finding("clocksource", OK, f"Time comes from {name}, which is read without asking a device.")
    choice = f" (there are {', '.join(others)})" if others else ""
    return Finding(
        "clocksource",
        WARNING,
        f"Time comes from {name}: every read asks a device and costs more than most calls; write another one "
        f"into current_clocksource under /sys/devices/system/clocksource{choice}.",
    )


def quota(environment: Facts, machine: Facts) -> Finding:
    """A process over its quota is stopped until the next period."""
    allowed = machine["cpu_quota"]
    if allowed is None:
        return Finding("cpu limit", OK, "No control group limits the processor time.")
    known = f"A control group allows {allowed:.2g} processor{'' if allowed == 1 else 's'}"
    if allowed < 2:
        return Finding(
            "cpu limit",
            WARNING,
            f"{known}: a worker beside the lab is stopped for the rest of a period (often 100 ms) when that is used "
            "up, which no call can help; allow 2 or lift the limit.",
        )
    return Finding("cpu limit", OK, f"{known}: enough, since one worker runs at a time.")


def memory_limit(environment: Facts, machine: Facts) -> Finding:
    """A process over this limit is killed."""
    allowed, there = machine["memory_limit_bytes"], environment["memory_bytes"]
    if allowed is None or (there is not None and allowed >= there):
        return Finding("memory limit", OK, "No control group limits the memory.")
    known = f"A control group allows {format_bytes(allowed)} of memory"
    if allowed < GIB:
        return Finding("memory limit", WARNING, f"{known}: large cases are killed and have no figure; allow 1 GiB.")
    if allowed < 4 * GIB:
        return Finding("memory limit", NOTE, f"{known}: enough for standard, little for 2,000,000 messages (full).")
    return Finding("memory limit", OK, f"{known}: enough for every suite.")


def sibling(environment: Facts, machine: Facts) -> Finding:
    """Two hardware threads share one core."""
    others, own = machine["siblings"], machine["processor"]
    if others is None:
        return Finding("sibling", NOTE, "Nobody says which processors share a core: one that does slows the other.")
    if others:
        shared = " and ".join(map(str, others))
        return Finding(
            "sibling",
            NOTE,
            f"Workers run on processor {own}, which shares its core with {shared}: what runs there slows them; "
            "keep it idle, or write off into /sys/devices/system/cpu/smt/control.",
        )
    return Finding("sibling", OK, f"Workers run on processor {own}, which is shown to share its core with none.")


def huge_pages(environment: Facts, machine: Facts) -> Finding:
    """Memory that comes in 2 MiB is seen in 2 MiB."""
    mode = machine["huge_pages"]
    if mode == "always":
        return Finding(
            "huge pages",
            NOTE,
            "Memory comes in huge pages whenever it can: resident memory grows in steps of 2 MiB; for finer figures "
            "write madvise into /sys/kernel/mm/transparent_hugepage/enabled.",
        )
    if mode is None:
        return Finding("huge pages", NOTE, "Huge pages are not told here: resident memory may grow in large steps.")
    return Finding("huge pages", OK, f"Huge pages come only when asked for ({mode}): resident memory grows smoothly.")


def peak(environment: Facts, machine: Facts) -> Finding:
    """The peak of one phase needs the one before forgotten."""
    if machine["clear_refs"]:
        return Finding("peak", OK, "The peak of memory can be reset: filling and draining have one each.")
    return Finding(
        "peak",
        NOTE,
        "The peak of memory cannot be reset (/proc/self/clear_refs): filling and draining have no peak of their own.",
    )


CHECKS: tuple[Check, ...] = (
    processor,
    sibling,
    quota,
    load,
    virtual,
    steal,
    governor,
    boost,
    frequency,
    memory,
    memory_limit,
    swap,
    huge_pages,
    peak,
    layout,
    system,
    interpreter,
    clocksource,
)
