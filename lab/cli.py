"""The front door: wires the commands, and is the way into them; computes nothing.

The commands stand in cli_*.py, which alone of `lab` import `runners` and `queues`, and in judging.py, which only judge
what was measured. Heavy imports are inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

from lab import cli_check as cli_check
from lab import cli_queues as cli_queues
from lab import cli_report as cli_report
from lab import cli_run as cli_run
from lab import cli_show as cli_show
from lab import judging as judging
from lab.front import app as app
from lab.front import sentences


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and an exit code, never in a traceback.

    Being told to end (SIGTERM), or losing the terminal (SIGHUP), is what Ctrl-C is: what was measured is kept, and
    nothing is left behind. Where `nohup` has had it ignored, it stays so.
    """
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    with sentences():
        app(prog_name="lab")
