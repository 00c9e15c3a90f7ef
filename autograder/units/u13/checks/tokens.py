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
from lessons.u13.tokens import (
    FASTEST,
    PROGRAMS,
    SLOW,
    TEACHING,
    WORDS,
    fault_text,
    listing,
    mended,
    ran,
    with_latency,
    words,
)

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
        answer = returned(got, 300)
        raise Wrong('The answer must be a dict with the keys "stuck" and "race".', got=answer,
                    spec=FORM[0])  # fmt: skip
    return {name: program_of(name, got[name]) for name in PROGRAMS}


def program_of(name: str, edits: Any) -> list[Instruction]:
    last = len(assemble(PROGRAMS[name])) - 1
    if not isinstance(edits, Mapping):
        raise Wrong(f'The value of "{name}" must be a dict.', got=repr(edits)[:300], spec=FORM[1])
    for number, tokens in edits.items():
        whole = isinstance(number, int) and 0 <= number < last
        plain = isinstance(tokens, str) and all(
            word.startswith(("wait=", "signal=")) for word in tokens.split()
        )
        if not whole or not plain:
            problem = f"Each number must be from 0 to {last - 1}."
            if not isinstance(number, int):
                problem = "Each key must be a number, not a string."
            elif whole:
                problem = 'The tokens must be a string such as "wait=load signal=store".'
            raise Wrong(problem, got=f"{name}: {{{number!r}: {tokens!r}}}"[:300],
                        spec=FORM[1])  # fmt: skip
    try:
        return mended(PROGRAMS[name], edits)
    except Fault as fault:
        raise Wrong("This instruction cannot have these tokens.", got=str(fault),
                    program=f"{name}: {edits}", spec=FORM[1]) from None  # fmt: skip


def runs(name: str, program: Sequence[Instruction], chip: Chip) -> int:
    """The clocks of a mended program; Wrong for a deadlock, a race or wrong bytes."""
    text = f"{name.upper()}, mended\n{listing(disassemble(program))}"
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
            runs(name, program, with_latency(clocks))
    return f"two programs with {len(LATENCIES)} latencies"


@checks("u13.mend", spec=FAST)
def nothing_waits_without_need(mend):
    """The clocks of the mended programs."""
    for name, program in programs_of(mend).items():
        clocks = runs(name, program, with_latency(SLOW))
        if clocks > FASTEST:
            raise Wrong(f"{name.upper()} must not wait for what it does not need.",
                        program=f"{name.upper()}, mended\n{listing(disassemble(program))}",
                        got=f"{clocks} clocks with a latency of {SLOW}",
                        expected=f"at most {FASTEST} clocks", spec=FAST)  # fmt: skip
    return f"at most {FASTEST} clocks with a latency of {SLOW}"


@checks("u13.mend", spec=FEW)
def few_words_change(mend):
    """How many words of tokens are changed."""
    changed = {}
    for name, program in programs_of(mend).items():
        changed[name] = words(assemble(PROGRAMS[name]), program)
        if changed[name] > WORDS[name]:
            runs(name, program, TEACHING)
            raise Wrong(f"{name.upper()} can be mended with fewer words.",
                        program=f"{name.upper()}, mended\n{listing(disassemble(program))}",
                        got=f"{changed[name]} words are changed",
                        expected=f"at most {WORDS[name]}", spec=FEW[0])  # fmt: skip
    return f"{changed['stuck']} and {changed['race']} words are changed"
