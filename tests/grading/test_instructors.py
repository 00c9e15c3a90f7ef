"""docs/instructors.md is true: its commands run in order, and print what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from autograder.edition.contents import COURSE

PAGE = COURSE / "docs" / "instructors.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def five_minutes() -> list[tuple[str, str]]:
    """(commands, what they print) of the first section; "" where the page does not say."""
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("## Five minutes") : text.index("## A term")]
    blocks = BLOCK.findall(section)
    after = [*blocks[1:], ("", "")]
    pairs = zip(blocks, after, strict=True)
    return [
        (code, said if kind == "text" else "") for (k, code), (kind, said) in pairs if k == "sh"
    ]


def test_the_five_minutes_are_true(tmp_path: Path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(COURSE)}
    steps = five_minutes()
    assert len(steps) == 6 and sum(bool(said) for _, said in steps) == 4
    for code, said in steps:
        done = subprocess.run(
            ["bash", "-e", "-c", code], cwd=tmp_path, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        if said:
            assert plain(done.stdout) == plain(said)
    pages = tmp_path / "build" / "grades" / "feedback" / "u00_tour"
    assert {"ada.html", "bob.html"} <= {page.name for page in pages.iterdir()}


def plain(text: str) -> str:
    """What does not depend on the machine: another one may have another sandbox."""
    return re.sub(r"sandbox: .*", "sandbox", text).strip()
