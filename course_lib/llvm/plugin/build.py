"""Compile the pass plugin, and run it under LLVM's `opt`.

    plugin = build(folder)                          # 5 seconds of clang
    counted(plugin, "kernel.ll", {"lo": 0})["k"]    ->  {"static": {"pair": 16}, ...}

The plugin speaks the C++ interface of one version of LLVM, the one that llvmlite holds. It needs
Debian's packages clang-22, llvm-22 and llvm-22-dev. The pass stands in
`fma.cpp`. Next room: `course_lib/llvm/work.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

VERSION = 22
TOOLS = tuple(f"{tool}-{VERSION}" for tool in ("clang++", "llvm-config", "opt"))
SOURCES = ("fma.cpp", "control.cpp")


def build(folder: Path) -> Path:
    """Compile the plugin into a folder and return its path.

    ValueError if a tool is missing, with what to install, or if the compiler refuses, in its words.
    """
    compiler, config = tool("clang++"), tool("llvm-config")
    flags = _output([config, "--cxxflags"]).split()
    flags = [flag.replace("-I", "-isystem", 1) for flag in flags]  # LLVM's headers may warn
    plugin = folder / "fma.so"
    unfinished = folder / f".fma.{os.getpid()}.so"
    sources = [str(Path(__file__).with_name(name)) for name in SOURCES]
    warn = ["-Wall", "-Wextra", "-Werror"]
    _output([compiler, *flags, *warn, "-shared", "-fPIC", *sources, "-o", str(unfinished)])
    unfinished.replace(plugin)
    return plugin


def counted(
    plugin: Path, file: Path | str, given: Mapping[str, int] | None = None
) -> dict[str, dict[str, Any]]:
    """Run the pass on a file of LLVM IR: for each function what `Count.as_dict` says.

    given  numbers for integer arguments, by name. ValueError with LLVM's words for a bad file.
    """
    numbers = ";".join(f"{name}={number}" for name, number in (given or {}).items())
    passes = f"count-fma<{numbers}>" if numbers else "count-fma"
    options = [f"-load-pass-plugin={plugin}", f"-passes={passes}", "-disable-output"]
    lines = _output([tool("opt"), *options, str(file)]).splitlines()
    reports = [json.loads(line) for line in lines]
    return {report["function"]: report for report in reports}


def tool(name: str) -> str:
    """The path of one of LLVM's programs, of the version that the plugin is written for."""
    path = shutil.which(f"{name}-{VERSION}")
    if path is None:
        raise ValueError(
            f"{name}-{VERSION} is not installed: the pass plugin needs Debian's packages "
            f"clang-{VERSION}, llvm-{VERSION} and llvm-{VERSION}-dev"
        )
    return path


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ValueError(f"{Path(command[0]).name} failed:\n{done.stderr.strip()}")
    return done.stdout
