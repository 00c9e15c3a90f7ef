"""What torch-mlir made of the transposes of unit 10, on the day when it was recorded.

    TWICE[4]     ->  (the pass, the text after it, a text that xDSL can run: "" for the same)
    OWN[1]       ->  the same, if each of the four results has an empty tensor of its own

The texts stand in recorded.txt. A pass of upstream's is wrong here (llvm/llvm-project, issue
212032); mlir-opt of LLVM 22.1.8 says the same to the letter, as a test compares. Next room:
native.py.
"""

from __future__ import annotations

from course_lib.recorded import recorded as recording

FILE = recording(__file__, "recorded.txt")
TOOL = FILE.tool
State = tuple[str, str, str]
ALSO = "// ----- for xDSL\n"


def _read(program: str) -> tuple[State, ...]:
    """The states of one program, in order: each text is named `PROGRAM: PASS`, and holds `ALSO`, if
    xDSL needs another one."""
    states: list[State] = []
    for title, text in FILE.texts.items():
        name, _, run = title.partition(":")
        shown, _, other = text.partition(ALSO)
        if name == program:
            states.append((run.strip(), shown, other))
    return tuple(states)


TWICE = _read("TWICE")
OWN = _read("OWN")
