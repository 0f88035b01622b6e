"""Which queues, subjects and interpreters are meant on the command line, and what they promise: `lab conform`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.front import Code, Stop, app

if TYPE_CHECKING:
    from runners.interpreters import Interpreter


def named_interpreters(given: list[str], label: str | None) -> list[Interpreter]:
    """Return the interpreters that measure: those that were named, else the one that runs this."""
    from runners.interpreters import NoInterpreter, ask_all, own

    try:
        return ask_all(given, label) if given else [own(label)]
    except (NoInterpreter, ValueError) as error:
        raise Stop(str(error)) from None


def timer_subjects() -> dict[str, str]:
    """Return name -> "module:Class" of all that can be measured: our subjects, then the peers."""
    from queues.registry import DURABLE, PEERS, SUBJECTS

    return {**SUBJECTS["timer"], **PEERS["timer"], **DURABLE["timer"]}


def every_subject() -> list[str]:
    """Return the names of the subjects and peers of every family, each once."""
    from queues.registry import DURABLE, PEERS, SUBJECTS

    every = (SUBJECTS, PEERS, DURABLE)
    return list(dict.fromkeys(name for registry in every for names in registry.values() for name in names))


def conforming(queues: list[str], interpreters: list[Interpreter]) -> dict[str, str]:
    """Return subject -> target of the user's queues, each checked against the contract before anything is timed.

    It is checked under every interpreter that is to measure it. How a wrong call is refused is no reason not to time a
    queue; every other broken promise is.
    """
    from itertools import product

    from lab.case import subject_of
    from queues.conformance import TOLERATED

    targets = {}
    for target, interpreter in product(queues, interpreters):
        broken = [
            (promise, detail)
            for promise, _, verdict, detail in checked(target, interpreter=interpreter)
            if verdict == "broken" and promise not in TOLERATED
        ]
        if broken:
            promise, detail = broken[0]
            raise Stop(
                f"{target} breaks the promise {promise!r}: {detail}\n"
                "Nothing was timed: a queue that fails its contract gets no numbers. "
                f"`lab conform {target}` shows every broken promise"
                f"{'' if len(interpreters) == 1 else f' (this is {interpreter.name})'}.",
                Code.NOTHING_MEASURED,
            )
        targets[subject_of(target)] = target
    return targets


def checked(
    target: str, seconds: float = 60.0, interpreter: Interpreter | None = None, family: str = "timer"
) -> list[tuple[str, str, str, str]]:
    from runners.interpreters import own
    from runners.promises import conform as check
    from runners.spawn import Limits

    if target.count(":") != 1 or not all(target.split(":")):
        raise Stop(f"{target!r} is no queue: expected package.module:Class")
    module, name = target.split(":")
    if "/" in module or module.endswith(".py"):
        file = Path(module)
        folder = "" if file.parent == Path() else f" in {file.parent}"
        raise Stop(f"{target!r} names a file: expected a module, as `import` names it, {file.stem}:{name}{folder}")
    one = interpreter or own()
    outcome, outcomes = check(target, family=family, path=one.search, limits=Limits(seconds=seconds), python=one.path)
    if not outcome.ok and not outcomes:
        raise Stop(f"{target} could not be checked: {outcome.message}{_looked_for(target, outcome.message)}")
    return outcomes


def _looked_for(target: str, message: str) -> str:
    """Return where the module of a queue was looked for, if that it was not found is the trouble."""
    parts = target.partition(":")[0].split(".")
    wanted = [f"No module named {'.'.join(parts[: end + 1])!r}" for end in range(len(parts))]
    found = not any(message.endswith(one) for one in wanted)
    return "" if found else "; it is looked for in this folder and along PYTHONPATH"


@app.command(
    short_help="Check a queue against the contract, promise by promise.",
    epilog="Example: lab conform queues.timer.heap:Heap",
)
def conform(
    queue: Annotated[
        list[str] | None,
        typer.Argument(metavar="SUBJECT|FAMILY/SUBJECT|MODULE:CLASS", help="What to check; may be repeated."),
    ] = None,
    family: Annotated[str, typer.Option(help="Whose contract: timer, advisory, ticker, limiter or events.")] = "timer",
    every: Annotated[bool, typer.Option("--all", help="Check every registered subject of the family.")] = False,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds the check of one queue may take.")] = 60.0,
) -> None:
    """Check a queue against the contract: each promise kept, broken (with the smallest input) or not offered."""
    from lab.table import text
    from runners.promises import not_there, promise_table

    count, nothing, ends = 0, list[str](), list[str]()
    for one, named in _named(queue or [], family, every).items():
        verdicts = {name: checked(target, time_limit, family=one) for name, target in named.items()}
        typer.echo(text(promise_table(verdicts, one)))
        for sentence in not_there(verdicts):
            typer.echo(f"note: {sentence}")
        broken = [(name, found) for name, outcomes in verdicts.items() for found in outcomes if found[2] == "broken"]
        for name, (promise, sentence, _, detail) in broken:
            typer.echo(f"\n{name} breaks {promise}: {sentence}\n  {detail}")
        count += len(broken)
        ends += _told_of_timing(broken) if one == "timer" else []
        nothing += [f"{name} offers nothing of the family {one}" for name in _offering_nothing(verdicts)]
    if count:
        raise Stop("\n".join([f"{count} promise(s) broken", *ends]), Code.REGRESSED)
    if nothing:
        raise Stop(f"{'; '.join(nothing)}: expected a class of that family, or another --family", Code.NOTHING_MEASURED)


def _told_of_timing(broken: list[tuple[str, tuple[str, str, str, str]]]) -> list[str]:
    """Return a sentence for each of the user's own queues that breaks something: is it timed all the same?"""
    from queues.conformance import TOLERATED

    said = []
    for name in dict.fromkeys(name for name, _ in broken if ":" in name):
        forbid = [found[0] for of, found in broken if of == name and found[0] not in TOLERATED]
        if not forbid:
            said.append(f"none is about what a workload does: `lab run --queue {name}` times it all the same")
            continue
        rest = f" and {len(forbid) - 5} more" if len(forbid) > 5 else ""
        said.append(f"{name} is not timed before it keeps {', '.join(forbid[:5])}{rest}")
    return said


def _offering_nothing(verdicts: dict[str, list[tuple[str, str, str, str]]]) -> list[str]:
    """Return the user's own queues of which no promise could be checked: they are no queues of that family."""
    return [
        name
        for name, outcomes in verdicts.items()
        if ":" in name and all(verdict == "not-offered" for _, _, verdict, _ in outcomes)
    ]


def _named(given: list[str], family: str, every: bool) -> dict[str, dict[str, str]]:
    """Return family -> name -> "module:Class" of what is to be checked: as it was named, then all of the family."""
    from queues.registry import CONFORMANCE, registered

    families = ", ".join(CONFORMANCE)
    if family not in CONFORMANCE:
        raise Stop(f"no contract of a family {family!r}: expected one of {families}")
    found: dict[str, dict[str, str]] = {}
    for name in given:
        own, slash, subject = name.rpartition("/") if ":" not in name else ("", "", name)
        one = own if slash else family
        if one not in CONFORMANCE:
            raise Stop(f"no contract of a family {one!r}: expected one of {families}")
        known = registered(one)
        if ":" not in subject and subject not in known:
            expected = f"expected one of {', '.join(known)}, or package.module:Class"
            raise Stop(f"no subject {subject!r}{'' if one == 'timer' else f' in the family {one}'}: {expected}")
        found.setdefault(one, {})[subject] = known.get(subject, subject)
    if every:
        found[family] = {**found.get(family, {}), **registered(family)}
    if not found:
        known = registered(family)
        raise Stop(f"no queue was named: expected package.module:Class, --all, or one of {', '.join(known)}")
    return found
