"""The commands that only read results and judge them: they import nothing that runs a queue.

Heavy imports are inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

from lab.front import RESULTS as RESULTS
