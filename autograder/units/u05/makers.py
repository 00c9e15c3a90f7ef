"""What makes the recordings of unit 5 that know an answer. Next room: `hidden`."""

from __future__ import annotations

import difflib
import re
import subprocess
from itertools import pairwise

from course_lib.exercises import slot
from course_lib.maker import maker
from lessons.u05.listings import DOT_C, SCALED_C
from lessons.u05.tools import steps

CLANG = ("-O0", "-Xclang", "-disable-O0-optnone", "-ffp-contract=fast", "-fno-math-errno",
         "-fno-discard-value-names", "-S", "-emit-llvm", "--target=x86_64-linux-gnu",
         "-march=haswell", "-x", "c", "-", "-o", "-")  # fmt: skip
REORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
UNSAID = re.compile(
    r" noundef| dso_local| local_unnamed_addr| #\d+|, ![\w.]+ !\d+|\s*; preds.*"
    r"|(?: readonly| writeonly| captures\(none\))(?=[ ,)])"
)


@maker("clang", "clang-22", "llvmlite", seconds=2)
def listings() -> dict[str, str]:
    """Two functions as clang writes them, and the changes that the passes of the answer make."""
    dot, scaled = written(DOT_C, *REORDER), written(SCALED_C)
    changes = changes_of(scaled)
    answer = slot("u05.passes").reference()
    texts = {"dot.c": DOT_C, "dot": dot, "scaled.c": SCALED_C, "scaled": scaled}
    return texts | {f"change {letter}": changes[answer[letter]] for letter in sorted(answer)}


def written(source: str, *flags: str) -> str:
    """The function of a C program in LLVM IR, without attributes, comments and metadata."""
    command = ["clang-22", *flags, *CLANG]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    (body,) = re.findall(r"^define.*?^}", done.stdout, re.M | re.S)
    return plainly(body)


def plainly(text: str) -> str:
    return "".join(f"{UNSAID.sub('', line).rstrip()}\n" for line in text.splitlines())


def changes_of(text: str) -> dict[str, str]:
    """What each pass of O3 changes first, as a diff with two lines around it."""
    states = [(name, state.splitlines()) for name, state in steps(text)]
    made: dict[str, str] = {}
    for (_, before), (name, after) in pairwise(states):
        lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
        kept = (line for line in map(str.rstrip, lines) if line)
        made.setdefault(name.split()[0], plainly("\n".join(kept)))
    return made
