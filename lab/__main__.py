"""`python -m lab`: the front door, for where no `lab` script is on the path."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (an older one deserves a sentence, not a SyntaxError)
    sys.stderr.write("lab: this Python is too old: expected 3.11 or newer; try make setup PYTHON=python3.11\n")
    sys.exit(2)

from lab.cli import main

main()
