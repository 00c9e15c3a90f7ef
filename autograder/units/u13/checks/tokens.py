"""Visible checks of u13.mend: the mended programs are run, and whatever mends them passes.

`program_of` and `runs` judge an answer, here and in the hidden checks. Next room: slots.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.text import assemble, disassemble
from lessons.u13 import tokens as given
from lessons.u13.tokens import PROGRAMS, fault_text, listing, ran

FORM = ('Return a dict with the keys "stuck" and "race"', "Each value is a dict from the number of "
        "each instruction that you change to all tokens that it then has",
        "Mend the tokens of STUCK and RACE", "All other instructions stay unchanged")  # fmt: skip
LIVE = "A mended program never deadlocks"
SAFE = "the hazard check finds no race in it"
RIGHT = "It leaves the same bytes in DRAM as running its instructions one by one"
TAKEN = "Every token that is given is taken"
FAST = "With a latency of 100, it takes at most 354 clocks"
FEW = ("Change at most two words of STUCK and four of RACE", "A word is one engine that you add to "
       "a `wait` or `signal`, or take from it")  # fmt: skip
LATENCIES = (10, 0, 30, 500)


def programs_of(mend: Any) -> dict[str, list[Instruction]]:
    """The two mended programs; Wrong if the answer does not say which they are."""
    got = mend()
    if not isinstance(got, Mapping) or set(got) != set(PROGRAMS):
        problem = 'The answer must be a dict with the keys "stuck" and "race".'
        raise Wrong(problem, got=returned(got, 300), spec=FORM[0])
    return {name: program_of(name, got[name]) for name in PROGRAMS}


def program_of(name: str, edits: Any) -> list[Instruction]:
    last = len(assemble(PROGRAMS[name])) - 1
    if not isinstance(edits, Mapping):
        raise Wrong(f'The value of "{name}" must be a dict.', got=repr(edits)[:300], spec=FORM[1])
    for number, tokens in edits.items():
        problem, words = "", tokens.split() if isinstance(tokens, str) else [""]
        if not isinstance(number, int):
            problem = "Each key must be a number, not a string."
        elif not 0 <= number < last:
            problem = f"Each number must be from 0 to {last - 1}."
        elif not all(word.startswith(("wait=", "signal=")) for word in words):
            problem = 'The tokens must be a string such as "wait=load signal=store".'
        if problem:
            got = f"{name}: {{{number!r}: {tokens!r}}}"[:300]
            raise Wrong(problem, got=got, spec=FORM[1])
    try:
        return given.mended(PROGRAMS[name], edits)
    except Fault as fault:
        raise Wrong("This instruction cannot have these tokens.", got=str(fault),
                    program=f"{name}: {edits}", spec=FORM[1]) from None  # fmt: skip


def told(name: str, program: Sequence[Instruction]) -> str:
    return f"{name.upper()}, mended\n{listing(disassemble(program))}"


def runs(name: str, program: Sequence[Instruction], chip: Chip) -> int:
    """The clocks of a mended program; Wrong for a deadlock, a race or wrong bytes."""
    text = told(name, program)
    latency = f"with a latency of {chip.dma_latency} clocks"
    try:
        run, right = ran(program, chip)
        ran(program, chip, hazards=True)
    except Fault as fault:
        stuck = fault.kind == "deadlock"
        problem = "runs into a deadlock" if stuck else "has a race"
        raise Wrong(f"{name.upper()} still {problem} {latency}.", program=text,
                    got=fault_text(fault), expected="no deadlock" if stuck else "no race",
                    spec=LIVE if stuck else SAFE) from None  # fmt: skip
    if not right:
        raise Wrong(f"{name.upper()} must leave the bytes of running its instructions in order.",
                    program=text, got=f"other bytes {latency}", spec=RIGHT)  # fmt: skip
    for (giver, taker), left in run.times.left.items():
        raise Wrong(f"{name.upper()} must take every token that it gives.", program=text,
                    got=f"{left} from {giver} to {taker} left: the next program would take it "
                    "too early", expected="no token left", spec=TAKEN)  # fmt: skip
    return run.total


@checks("u13.mend", spec=[*FORM, LIVE, SAFE, RIGHT, TAKEN])
def both_run(mend):
    """No deadlock, no race, the right bytes in DRAM, and no token left."""
    for name, program in programs_of(mend).items():
        for clocks in LATENCIES:
            runs(name, program, given.with_latency(clocks))
    return f"two programs with {len(LATENCIES)} latencies"


@checks("u13.mend", spec=FAST)
def nothing_waits_without_need(mend):
    """The clocks of the mended programs."""
    least, slow = f"at most {given.FASTEST} clocks", f"with a latency of {given.SLOW}"
    for name, program in programs_of(mend).items():
        clocks = runs(name, program, given.with_latency(given.SLOW))
        if clocks > given.FASTEST:
            raise Wrong(f"{name.upper()} must not wait for what it does not need.", spec=FAST,
                        program=told(name, program), got=f"{clocks} clocks {slow}",
                        expected=least)  # fmt: skip
    return f"{least} {slow}"


@checks("u13.mend", spec=FEW)
def few_words_change(mend):
    """How many words of tokens are changed."""
    changed = {}
    for name, program in programs_of(mend).items():
        changed[name], most = given.words(assemble(PROGRAMS[name]), program), given.WORDS[name]
        if changed[name] > most:
            runs(name, program, given.TEACHING)
            raise Wrong(f"{name.upper()} can be mended with fewer words.", spec=FEW[0],
                        program=told(name, program), got=f"{changed[name]} words are changed",
                        expected=f"at most {most}")  # fmt: skip
    return f"{changed['stuck']} and {changed['race']} words are changed"
