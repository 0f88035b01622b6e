"""What all commands share: the application, exit codes, the options of several, and how a mistake ends.

Exit codes: 0 holds, 1 broken or regressed, 2 wrong usage, 3 inconclusive, 4 nothing measured, 5 not comparable.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from lab.archive import Run

RESULTS = Path("results")

IN_ORDER = (
    *("doctor", "run", "list", "show", "report", "claims", "compare", "reattach"),
    *("aa", "export", "verify", "conform", "calibrate", "demo"),
)
"""The commands as the README lists them; one that is not named here comes last."""


class InOrder(TyperGroup):
    """The commands in the order in which somebody meets them, not in that in which modules are imported."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, each once."""
        there = super().list_commands(ctx)
        return sorted(there, key=lambda name: IN_ORDER.index(name) if name in IN_ORDER else len(IN_ORDER))

    def invoke(self, ctx: Any) -> Any:
        """Carry out the command; who stops reading, as `head` does, has seen enough and is no failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(Code.HOLDS) from None


app = typer.Typer(
    name="lab",
    cls=InOrder,
    epilog="Begin with `lab doctor`, then `lab run --suite quick` (a minute) and `lab show`.",
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


PLAIN = {"–": "-", "−": "-", "†": "+", "×": "x", "→": ">", "µ": "u", "≠": "#", "…": "."}
"""What stands for a sign that the encoding of the output lacks; one for one, so that tables keep their columns."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return what is written for signs that cannot be encoded, and where to go on: a handler for `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


def _streams() -> None:
    """Make the standard streams such that nothing fails for them.

    One that is closed becomes the null device, or the next file that is opened would take its number and workers write
    into it. One whose encoding lacks a sign gets another sign.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    codecs.register_error("lab-plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="lab-plain")


@contextlib.contextmanager
def sentences() -> Iterator[None]:
    """Turn every expected end of a command into its exit code, with one sentence on stderr if there is one to say."""
    _streams()
    try:
        yield
    except Stop as stop:
        typer.echo(f"lab: {stop}", err=True)
        sys.exit(stop.code)
    except KeyboardInterrupt:
        typer.echo("lab: stopped", err=True)
        sys.exit(Code.INTERRUPTED)
    except OSError as error:
        if error.errno not in NO_ROOM:
            if error.filename is None:
                raise
            typer.echo(f"lab: {error.filename} cannot be used ({error.strerror}): name another place", err=True)
            sys.exit(Code.USAGE)
        typer.echo(f"lab: {error}: make room where the output goes, or send it elsewhere", err=True)
        _drop_output()
        sys.exit(Code.USAGE)
    except Exception as error:
        if not _is_of_the_archive(error):
            raise
        typer.echo(f"lab: {error}", err=True)
        sys.exit(Code.USAGE)


def _drop_output() -> None:
    """Have what is left unwritten go nowhere: the interpreter would try again when it ends, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _is_of_the_archive(error: Exception) -> bool:
    """Whether this is an ArchiveError; where nothing loaded the archive none can be, and `--help` need not load it."""
    recorded = sys.modules.get("lab.recorded")
    return recorded is not None and isinstance(error, recorded.ArchiveError)
