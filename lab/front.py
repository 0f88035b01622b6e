"""What all commands share: the application, exit codes, the options of several, and how a mistake ends.

Exit codes: 0 holds, 1 broken or regressed, 2 wrong usage, 3 inconclusive, 4 nothing measured, 5 not comparable.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lab.archive import Run

RESULTS = Path("results")

app = typer.Typer(
    name="lab",
    help="Measure queues that dispatch what is due: what each costs, how bad its slowest call is, what it holds.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Code(IntEnum):
    """What the exit code of a command says."""

    HOLDS = 0
    REGRESSED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    NOTHING_MEASURED = 4
    NOT_COMPARABLE = 5
    INTERRUPTED = 130


class Stop(Exception):
    """Ends a command with one sentence on stderr and an exit code."""

    def __init__(self, sentence: str, code: Code = Code.USAGE) -> None:
        super().__init__(sentence)
        self.code = code


ResultsOption = Annotated[Path, typer.Option("--results", help="The folder that holds the runs.")]
RunArgument = Annotated[Path | None, typer.Argument(help="The folder of a run; without it the newest.")]


def machine_sentence(opened: Run) -> str:
    """Return what a run was measured on in one line: processor, cores, memory, interpreter."""
    facts = opened.environment
    memory = facts.get("memory_bytes")
    size = f"{memory / 2**30:.0f} GiB, " if memory else ""
    python = f"{facts.get('implementation')} {facts.get('python')}"
    return f"{facts.get('processor')}, {facts.get('cores')} cores, {size}{python}"


@contextlib.contextmanager
def sentences() -> Iterator[None]:
    """Turn every expected end of a command into its exit code, with one sentence on stderr if there is one to say."""
    try:
        yield
    except Stop as stop:
        typer.echo(f"lab: {stop}", err=True)
        sys.exit(stop.code)
    except BrokenPipeError:
        sys.exit(Code.HOLDS)
    except KeyboardInterrupt:
        typer.echo("lab: stopped", err=True)
        sys.exit(Code.INTERRUPTED)
    except Exception as error:
        if not _is_of_the_archive(error):
            raise
        typer.echo(f"lab: {error}", err=True)
        sys.exit(Code.USAGE)


def _is_of_the_archive(error: Exception) -> bool:
    """Whether this is an ArchiveError; where nothing loaded the archive none can be, and `--help` need not load it."""
    recorded = sys.modules.get("lab.recorded")
    return recorded is not None and isinstance(error, recorded.ArchiveError)
