"""The start page in a terminal, in the folder where the notebooks lie.

    python -m autograder status          where you are: points, minutes, predictions, your compiler

In a class's edition this is the whole of `python -m autograder`. Next room: page.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from autograder.check.cards import Note
from autograder.progress.page import dashboard

FOLDER = "where the notebooks lie (default: here)"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("status",), nargs="?", default="status")
    parser.add_argument("--course", type=Path, metavar="DIR", default=Path(), help=FOLDER)
    return status(parser.parse_args(arguments).course)


def status(folder: Path) -> int:
    """Print the start page of that folder. 1 if there is no course in it."""
    os.chdir(folder)
    shown = dashboard()
    print(shown)
    return 1 if isinstance(shown, Note) else 0


if __name__ == "__main__":
    sys.exit(main())
