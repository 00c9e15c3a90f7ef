"""The texts of the notebook's two programs, by compiler and stage, and the words that they use.

    DUMPS["both"]["TIR"]          the text
    words_table()                 what an exponential is called in each of them

Next room: logs.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.peers.align.rows import STAGES, WORDS, Row, rows
from course_lib.recorded import Recording, recorded

SYSTEMS = ("XLA", "IREE", "TVM", "Triton")
BY: Mapping[str, Recording] = {name: recorded(__file__, f"{name.lower()}.txt") for name in SYSTEMS}
DUMPS = {
    program: {stage: BY[system][f"{program}: {stage}"] for stage, system in STAGES.items()}
    for program in ("both", "neither")
}
PTX = BY["Triton"]["both: PTX"]
Found = Callable[[list[Row]], Mapping[int, list[int]]]


def words_table() -> Picture:
    """The words of a softmax in each stage."""
    heads = ["exp", "sum", "divide", "multiply", "softmax"]
    lines = [[STAGES[stage], stage, *(words[head] for head in heads)]
             for stage, words in WORDS.items()]  # fmt: skip
    return table(lines, ["compiler", "stage", *heads])


def lines_of(text: str, *numbers: int) -> str:
    """Some lines of a text, with their numbers."""
    whole = text.splitlines()
    return "\n".join(f"{k:>4}  {shorten(whole[k - 1].strip())}" for k in numbers)


def shorten(line: str, most: int = 106) -> str:
    return line if len(line) <= most else f"{line[: most - 2]} …"


def found_table(found: Found) -> Picture:
    """What a function finds in each stage of the two programs."""
    lines: list[list[Any]] = []
    for stage, system in STAGES.items():
        texts = [DUMPS[program][stage] for program in ("both", "neither")]
        both, neither = (found(rows(text)) for text in texts)
        shown = "; ".join(f"{k}: {', '.join(map(str, v)) or 'one operation'}"
                          for k, v in both.items())  # fmt: skip
        lines.append([system, stage, len(texts[0].splitlines()), shown, len(neither)])
    heads = ["compiler", "stage", "lines", "softmaxes of both: result, parts", "of neither"]
    return table(lines, heads, exact=["lines", "of neither"])


def ptx_by_line() -> dict[int, Counter[str]]:
    """The instructions of the PTX, by the line of the kernel that they come from: a `.loc` says it
    of those that follow, and its comment goes up the calls to that line."""
    found: dict[int, Counter[str]] = {}
    at = 0
    for line in PTX.splitlines():
        if places := re.findall(r"kernels\.py:(\d+):", line):
            at = int(places[-1])
        elif word := re.match(r"\t(?:@!?%p\d+ )?([a-z][\w.]*) ", line):
            found.setdefault(at, Counter())[word[1]] += 1
    return found


def ptx_table() -> Picture:
    """What each line of the kernel became."""
    kernel = BY["Triton"]["kernels"].splitlines()
    lines = []
    for number, counts in sorted(ptx_by_line().items()):
        most = ", ".join(f"{n} {word}" for word, n in counts.most_common(3))
        lines.append([number, shorten(kernel[number - 1].strip(), 48), counts.total(), most])
    return table(lines, ["line", "the kernel", "instructions", "most of them"],
                 BY["Triton"].words, exact=["line", "instructions"])  # fmt: skip
