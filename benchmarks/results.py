"""Where a benchmark's figures go: the screen, and files for those who read them later.

arguments(parser)                      # --json, --out FOLDER
keep(found, asked, picture)            # FOLDER/models.json and FOLDER/models.svg
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from course_lib.draw.base.picture import Picture


def arguments(parser: argparse.ArgumentParser) -> None:
    """What all benchmarks can be asked for."""
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="the figures and the picture as files there"
    )


def keep(figures: dict, asked: argparse.Namespace, picture: Picture | None = None) -> None:
    """The figures in the file of the program's name, and on the last line if that was asked for."""
    text = json.dumps(figures)
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        file = asked.out / f"{Path(sys.argv[0]).stem}.json"
        partial = file.with_suffix(".part")
        partial.write_text(text + "\n")
        os.replace(partial, file)
        if picture:
            picture.save(file.with_suffix(".svg"))
    if asked.json:
        print(text)
