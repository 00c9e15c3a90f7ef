"""Compile the pass plugin, and run it under LLVM's `opt`.

    plugin = build(folder)                          # 5 seconds of clang
    counted(plugin, "kernel.ll", {"lo": 0})["k"]    ->  {"static": {"pair": 16}, ...}

The plugin speaks the C++ interface of one version of LLVM, the one that llvmlite holds. It needs
Debian's packages clang-22, llvm-22 and llvm-22-dev. The pass stands in
`fma.cpp`. Next room: `course_lib/llvm/inspect/work.py`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.files import replacing

VERSION = 22
TOOLS = tuple(f"{tool}-{VERSION}" for tool in ("clang++", "llvm-config", "opt"))
SOURCES = ("fma.cpp", "control.cpp")
NEEDS = (
    f"the pass plugin needs Debian's packages clang-{VERSION}, llvm-{VERSION} and "
    f"llvm-{VERSION}-dev"
)


def build(folder: Path) -> Path:
    """Compile the plugin into a folder and return its path.

    ValueError if a tool is missing, with what to install, or if the compiler refuses, in its words.
    """
    sources = [Path(__file__).with_name(name) for name in SOURCES]
    return shared_object(folder / "fma.so", sources)


def shared_object(
    target: Path, sources: Sequence[Path], headers: Sequence[Path] = (), needs: str = NEEDS
) -> Path:
    """Compile C++ into what LLVM's programs can load, and return its path.

    headers  folders of headers that were generated; they may warn, as LLVM's own may
    needs    who wants this, and which packages it takes: for the error if a tool is missing
    """
    compiler, config = tool("clang++", needs), tool("llvm-config", needs)
    flags = [*output([config, "--cxxflags"]).split(), *(f"-I{folder}" for folder in headers)]
    flags = [flag.replace("-I", "-isystem", 1) for flag in flags]
    files = [str(source) for source in sources]
    warn = ["-Wall", "-Wextra", "-Werror"]
    with replacing(target) as unfinished:
        output([compiler, *flags, *warn, "-shared", "-fPIC", *files, "-o", str(unfinished)])
    return target


def counted(
    plugin: Path, file: Path | str, given: Mapping[str, int] | None = None
) -> dict[str, dict[str, Any]]:
    """Run the pass on a file of LLVM IR: for each function what `Count.as_dict` says.

    given  numbers for integer arguments, by name. ValueError with LLVM's words for a bad file.
    """
    numbers = ";".join(f"{name}={number}" for name, number in (given or {}).items())
    passes = f"count-fma<{numbers}>" if numbers else "count-fma"
    options = [f"-load-pass-plugin={plugin}", f"-passes={passes}", "-disable-output"]
    lines = output([tool("opt"), *options, str(file)]).splitlines()
    reports = [json.loads(line) for line in lines]
    return {report["function"]: report for report in reports}


def tool(name: str, needs: str = NEEDS) -> str:
    """The path of one of LLVM's programs, of the version that the plugin is written for."""
    path = shutil.which(f"{name}-{VERSION}")
    if path is None:
        raise ValueError(f"{name}-{VERSION} is not installed: {needs}")
    return path


def output(command: Sequence[str], given: str = "") -> str:
    """What a program writes, given this to read. ValueError with its own words if it fails."""
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{Path(command[0]).name} failed:\n{done.stderr.strip()}")
    return done.stdout
