"""Visible checks of unit 5, LLVM IR and counting multiply-adds.

Here are the checks of what is read: the load's offset and the six passes. Those of the function
that is written by hand are in written.py, of the counter in counter.py, of the flow in flow.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number, seal_of

OFFSETS = {
    (0, 0): "6a7416804c05",
    (0, 2): "9b4aaa4069e6",
    (1, 0): "624f7098ee90",
    (7, 1): "cfd06af3d7cb",
}
LETTERS = "ABCDEF"
NAMES = ("ADCE", "EarlyCSE", "InstCombine", "LICM", "LoopRotate", "LoopUnroll", "LoopVectorize",
         "SROA", "SimplifyCFG")  # fmt: skip
SEALS = {
    "A": "a8410af23376",
    "B": "ee39071362d3",
    "C": "fd694fe3ff65",
    "D": "fa0f537b5f09",
    "E": "ea3f259e96e5",
    "F": "d5fa431b0798",
}


background("u05.offset", "turn ... turn 0", because="what is given")
background("u05.offset", "channel  the argument `%c`", because="what is given")


@checks("u05.offset", spec=["How many bytes behind `%pixels`", "Return the exact number of bytes"])
def is_where_the_load_reads(offset):
    """Where the load reads in a few turns, for each channel."""
    for (turn, channel), seal in OFFSETS.items():
        got = a_number(offset(turn, channel), unit="bytes")
        if seal_of("u05.offset", (turn, channel, round(got))) != seal or got != round(got):
            why = "Which pixel is it in the first turn?" if turn == 0 else ""
            why = "How far apart are two pixels, and which is the next one?" if turn else why
            raise Wrong(
                f"The load does not read at byte {got:g}. {why}",
                program=f"offset({turn}, {channel})",
                got=f"{got:g}",
                spec="How many bytes behind `%pixels`",
            )
    return f"{len(OFFSETS)} loads"


@checks(
    "u05.passes",
    spec=["Which pass made each of the six changes?", 'a dict from each letter, "A" to "F"',
          "one of ADCE, EarlyCSE, InstCombine, LICM"],
)  # fmt: skip
def names_the_passes(passes):
    """The pass behind each change."""
    for letter, name in named(passes()).items():
        if seal_of("u05.passes", (letter, name)) != SEALS[letter]:
            raise Wrong(
                f"Change {letter} was not made by {name}.",
                got=f"{letter}: {name}",
                spec="Which pass made each of the six changes?",
            )
    return "six changes"


def named(answer: object) -> dict[str, str]:
    """A name for each letter, one of those that are offered."""
    words = 'a dict from each letter, "A" to "F"'
    if not isinstance(answer, Mapping) or not set(LETTERS) <= set(answer):
        raise Wrong("The answer must be a dict with six letters.", got=repr(answer), spec=words)
    for letter in LETTERS:
        if answer[letter] not in NAMES:
            raise Wrong(
                f"Letter {letter} must have one of the names that are offered.",
                got=repr(answer[letter]),
                expected=", ".join(NAMES),
                spec="one of ADCE, EarlyCSE, InstCombine, LICM",
            )
    return {letter: answer[letter] for letter in LETTERS}
