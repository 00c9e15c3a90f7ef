"""The counter as a pass of LLVM, with the lines left out that a reader types.

    counted_in_cpp("...", text)   ->  {"dot": 37}, or None where Debian's clang-22 is missing

The frame stands in count.cpp. The whole pass, with trip counts, is in
`course_lib/llvm/inspect/plugin`. Next room: `autograder/units/u05/checks`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from course_lib.llvm.inspect.fixed import optimized
from course_lib.llvm.inspect.plugin.build import tool
from course_lib.maker import in_rows, maker
from course_lib.recorded import recorded
from lessons.u05.listings import DOT

FRAME = Path(__file__).with_name("count.cpp").read_text("utf-8")


def has_tools() -> bool:
    """Whether clang++-22, llvm-config-22 and opt-22 are installed."""
    return all(shutil.which(f"{name}-22") for name in ("clang++", "llvm-config", "opt"))


def counted_in_cpp(lines: str, *texts: str) -> list[dict[str, int]] | None:
    """Build the pass with these lines, and run it on each text: {function: count}.

    None where a tool is missing. ValueError with clang's first complaint, or with opt's.
    """
    if not has_tools():
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "count.cpp").write_text(FRAME.replace("YOUR_LINES", lines.strip("\n")))
        flags = _output([tool("llvm-config"), "--cxxflags"]).split()
        plugin = str(folder / "count.so")
        _output(
            [tool("clang++"), *flags, "-shared", "-fPIC", str(folder / "count.cpp"), "-o", plugin]
        )
        return [_counts(plugin, folder, text) for text in texts]


def _counts(plugin: str, folder: Path, text: str) -> dict[str, int]:
    (folder / "text.ll").write_text(text)
    command = [tool("opt"), f"-load-pass-plugin={plugin}", "-passes=count", "-disable-output"]
    printed = _output([*command, str(folder / "text.ll")])
    return {name: int(count) for name, count in map(str.split, printed.splitlines())}


def block_frequencies(text: str) -> dict[str, float] | None:
    """How often LLVM 22 guesses that each block runs; None where opt-22 is missing."""
    if shutil.which("opt-22") is None:
        return None
    command = [tool("opt"), "-passes=print<block-freq>", "-disable-output", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    frequencies = re.findall(r"^ - (\S+): float = ([\d.]+)", done.stdout + done.stderr, re.M)
    return {name: float(number) for name, number in frequencies}


@maker("LLVM", "opt-22")
def frequencies_of_dot() -> dict[str, str]:
    """Of the dot product after O3 for Haswell, the blocks of its loops."""
    guess = block_frequencies(optimized(DOT)) or {}
    return {"frequencies": in_rows({name: guess[name] for name in RECORDED_FREQUENCIES})}


# of the dot product after O3 for Haswell
FREQUENCIES = recorded(__file__, "opt.txt")
RECORDED_FREQUENCIES: dict[str, float] = FREQUENCIES.data("frequencies")
LOOPS = {  # each with the block in front of it
    "vector.body": "vector.ph",
    "vec.epilog.vector.body": "vec.epilog.ph",
    "for.body": "for.body.preheader",
}


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or ["it failed"]
        place = errors[0].rpartition("count.cpp:")[2]
        raise ValueError(f"{Path(command[0]).name}: {place}")
    return done.stdout
