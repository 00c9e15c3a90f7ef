"""Verilog run under Icarus Verilog: sources, parameters and files in, the files that it wrote out.

    icarus({"bench.v": text}, "bench", {"R": 4}, {"right.hex": "07\\nff"})
    ->  {"result.txt": ..., "": what it printed}

Optional: `installed()` is False where iverilog is missing. It runs in a folder of its own, which is
removed afterwards. Verilog that somebody types can open files and never end: there is a limit of
time, but no sandbox. Next room: `ptxas.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

SECONDS = 60  # for iverilog, and for the simulation


class VerilogError(ValueError):
    """Verilog that does not compile or does not run. Notebooks show the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def installed() -> bool:
    """Are both of its programs there?"""
    return all(shutil.which(name) for name in ("iverilog", "vvp"))


def icarus(
    sources: Mapping[str, str],
    top: str,
    parameters: Mapping[str, int],
    files: Mapping[str, str],
    seconds: float = SECONDS,
) -> dict[str, str]:
    """Compile `sources` (by file name), set the parameters of module `top`, and run it.

    files   what it may read; names of files only, no folders
    Returns every other file that it has written, and what it printed under "".

    VerilogError if iverilog is missing, refuses the text, or if the run fails or does not end.
    """
    if not installed():
        raise VerilogError("iverilog is not installed; Debian's package iverilog has it")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**sources, **files}.items():
            if Path(name).name != name:
                raise ValueError(f"the name of a file without a folder expected, got {name!r}")
            Path(folder, name).write_text(text)
        given = [f"-P{top}.{name}={value}" for name, value in parameters.items()]
        compiling = ["iverilog", "-g2012", "-s", top, "-o", "compiled", *given, *sources]
        _run(compiling, folder, seconds)
        printed = _run(["vvp", "-n", "compiled"], folder, seconds)
        old = {*sources, *files, "compiled"}
        new = [path for path in Path(folder).iterdir() if path.name not in old]
        return {"": printed, **{path.name: path.read_text() for path in new if path.is_file()}}


def _run(command: Sequence[str], folder: str, seconds: float) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise VerilogError(
            f"{command[0]} was not done after {seconds} seconds: is there an endless loop?"
        ) from None
    if done.returncode:
        raise VerilogError(f"{command[0]} says:\n{(done.stderr + done.stdout).strip()}")
    return done.stdout
