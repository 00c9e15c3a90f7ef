"""Visible checks of unit 5, LLVM IR and counting multiply-adds.

Here are the checks of what is read: the load's offset and the six passes. Those of the function
that is written by hand are in written.py, of the counter in counter.py, of the flow in flow.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.check.framework import Wrong, background, checks, ours
from autograder.check.properties import a_number
from lessons.u05.listings import CHANGES

OFFSETS = ((0, 0), (0, 2), (1, 0), (7, 1))  # turn, channel
LETTERS = "ABCDEF"
NAMES = ("ADCE", "EarlyCSE", "InstCombine", "LICM", "LoopRotate", "LoopUnroll", "LoopVectorize",
         "SROA", "SimplifyCFG")  # fmt: skip


# what each pass leaves in a diff, for whoever took another one's work for it
TRACES = {
    "ADCE": "ADCE only removes instructions: it adds and changes no line, and a branch that is "
    "taken has no result but is needed.",
    "EarlyCSE": "EarlyCSE removes a value that an earlier line has under another name, and each "
    "use now has that name.",
    "InstCombine": "InstCombine puts another instruction in the place of one that is gone.",
    "LICM": "LICM moves a line unchanged, from inside a loop to a place in front of it.",
    "LoopRotate": "LoopRotate leaves the test at the loop's end, and a copy of the test in front.",
    "LoopUnroll": "LoopUnroll leaves several copies of the loop's body.",
    "LoopVectorize": "LoopVectorize leaves types such as <8 x float>.",
    "SROA": "SROA removes an alloca, with its loads and stores.",
    "SimplifyCFG": "SimplifyCFG removes or merges blocks and keeps what they compute.",
}


background("u05.offset", "turn ... turn 0", because="what is given")
background("u05.offset", "channel  the argument `%c`", because="what is given")


@checks("u05.offset", spec=["How many bytes past `%pixels`", "Return the exact number of bytes"])
def is_where_the_load_reads(offset):
    """Where the load reads in a few turns, for each channel."""
    offsets = [a_number(offset(*at), unit="bytes") for at in OFFSETS]
    moves_on(offset, "turn", (1, 0), "How long is a pixel, and by how much does `%i` grow?")
    moves_on(offset, "channel", (0, 1), "How many bytes further is the next float?")
    for (turn, channel), got in zip(OFFSETS, offsets, strict=True):
        if got != ours("u05.offset", turn, channel):
            why = "Which pixel is read in the first turn, and where in it is the first float?"
            raise Wrong(
                f"The load does not read at byte {got:g}. {why}",
                program=f"offset({turn}, {channel})",
                got=f"{got:g}",
                spec="How many bytes past `%pixels`",
            )
    return "loads in turns 0, 1 and 7, of all three channels"


def moves_on(offset, step, to, why):
    """The distance of two loads, which says what is wrong sooner than the place of one."""
    got = a_number(offset(*to), unit="bytes") - a_number(offset(0, 0), unit="bytes")
    if got != ours("u05.offset", *to) - ours("u05.offset", 0, 0):
        raise Wrong(
            f"From one {step} to the next, the load must move by another distance. {why}",
            program=f"offset{to} - offset(0, 0)",
            got=f"{got:g}",
            spec="How many bytes past `%pixels`",
        )


@checks(
    "u05.passes",
    spec=["Which pass made each of the six changes?", 'a dict from each letter, "A" to "F"',
          "one of ADCE, EarlyCSE, InstCombine, LICM"],
)  # fmt: skip
def names_the_passes(passes):
    """The pass behind each change. The function is called twice: a guess may differ then."""
    answers, right = (named(passes()), named(passes())), ours("u05.passes")
    for letter, name in (item for answer in answers for item in answer.items()):
        if name != right[letter]:
            raise Wrong(
                f"Change {letter} was not made by {name}. {TRACES[name]}",
                program=CHANGES[letter].strip(),
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
                f"Letter {letter} must have one of the names in the list.",
                got=repr(answer[letter]),
                expected=", ".join(NAMES),
                spec="one of ADCE, EarlyCSE, InstCombine, LICM",
            )
    return {letter: answer[letter] for letter in LETTERS}
