"""Visible checks of unit 13: fields into words, and back.

`same_word` and `same_values` judge an answer, here and in the hidden checks. Next room:
products.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import raises
from autograder.check.shown import returned
from course_lib.accelerator.isa.text import assemble
from course_lib.accelerator.isa.word import WORD
from course_lib.accelerator.isa.word import encode as library_words
from lessons.u13.words import Fields, spelled

NEXT = "each field follows directly after the one before it"
FIELDS = "fields (name, width, signed) for each value"
PLACE = ("The first field takes the lowest `width` bits", NEXT, "The word that holds these values",
         FIELDS)  # fmt: skip
SIGNED = "stores a negative value as value + 2**width"
RANGE = "An unsigned field holds 0 to 2**width - 1"
SIGNED_RANGE = "A signed field holds -2**(width - 1) to 2**(width - 1) - 1"
RAISES = "A value that its field cannot hold raises a ValueError"
NAMES = "whose text names the field and no other one"
ZEROS = "Bits after the last field are 0"

BACK = ("The first field has the lowest `width` bits", NEXT,
        "Return the value of each field, in order",
        "The values that stand in a word: the inverse of `encode`", FIELDS)  # fmt: skip
BACK_SIGNED = "a number from 2**(width - 1) on stands for a negative value"
BEHIND = "A word with a bit set after its last field raises a ValueError"
background("u13.decode", "it was not made by `encode`.", because="the reason for the ValueError")

PROGRAM = """
ldw dram=4096 weights=0 rows=9 bytes=4 pitch=4 signal=execute
lda dram=0 acts=0 h=4 w=4 bytes=8 step=8 line=32 top=1 left=1 fill=-128
ldb dram=70000 params=3 count=1 signal=execute,store
preload weights=0 k=4 n=4 pitch=4 wait=load
matmul acts=0 h=1 w=9 step=4 line=36 k=4 n=4 accs=0 add=1 signal=store
act accs=0 n=4 params=0 acts=512 h=1 w=9 step=4 line=36 low=-128 high=6 wait=load,execute
st acts=512 dram=99999 h=1 w=9 bytes=4 step=4 line=36 signal=load
halt
"""


WORDS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"),
    *("kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango"),
    *("whiskey", "xray", "yankee", "zulu"),
)
Word = tuple[list[int], Fields]


@st.composite
def cases(draw: st.DrawFn, most: int = 3, wide: int = 6, alike: bool = True) -> Word:
    """Fields, and a value that each of them holds: often the least, or the greatest. If `alike`,
    several fields may have one name."""
    values, fields = [], []
    for number in range(draw(st.integers(1, most))):
        name = WORDS[draw(st.integers(0, number)) if alike else number]
        width, signed = draw(st.integers(1, wide)), draw(st.booleans())
        low, high = limits_of(width, signed)
        values.append(draw(st.integers(low, high) | st.sampled_from((low, high, -low & high))))
        fields.append((name, width, signed))
    return values, fields


def limits_of(width: int, signed: bool) -> tuple[int, int]:
    low = -(1 << (width - 1)) if signed else 0
    return low, low + (1 << width) - 1


@st.composite
def words(draw: st.DrawFn, most: int = 3, wide: int = 6) -> tuple[int, Fields]:
    """The bits of a word, drawn field by field: often none, all, the sign alone or all others."""
    _, fields = draw(cases(most, wide))
    bits = ""
    for _, width, _ in fields:
        sign = 1 << (width - 1)
        edges = (0, 2 * sign - 1, sign, sign - 1)
        bits = f"{draw(st.integers(0, 2 * sign - 1) | st.sampled_from(edges)):0{width}b}{bits}"
    return int(bits, 2), fields


@st.composite
def misfits(draw: st.DrawFn, most: int = 3, wide: int = 6) -> tuple[list[int], Fields, list[str]]:
    """Values of which one or two do not fit, just so or by far; and the names of their fields."""
    values, fields = draw(cases(most, wide, alike=False))
    bad = draw(st.sets(st.integers(0, len(values) - 1), min_size=1, max_size=2))
    for at in bad:
        _, width, signed = fields[at]
        low, high = limits_of(width, signed)
        by = draw(st.sampled_from((1, 1, 1 << width, 1000)))
        values[at] = draw(st.sampled_from((low - by, high + by)))
    return values, fields, [fields[at][0] for at in sorted(bad)]


@st.composite
def longer_words(draw: st.DrawFn, most: int = 3, wide: int = 6) -> tuple[int, Fields]:
    """A word with a bit, or several, after its last field: the next one, or far away."""
    word, fields = draw(words(most, wide))
    end = sum(width for _, width, _ in fields)
    for behind in draw(st.sets(st.sampled_from((0, 1, 5, 31, 64, 300)), min_size=1, max_size=2)):
        word |= 1 << (end + behind)
    return word, fields


def same_word(encode: Any, values: list[int], fields: Fields) -> None:
    """Wrong unless the answer's word has these values at their places, and nothing else."""
    got, at = encode(values, fields), 0
    wrong = partial(Wrong, program=told(fields, values))
    if isinstance(got, bool) or not isinstance(got, (int, np.integer)):
        raise wrong("The answer must be a whole number.", got=returned(got, 100), spec=PLACE[2])
    got = int(got)
    if got < 0:
        raise wrong("The word must not be negative.", got=binary(got), spec=SIGNED)
    for value, (name, width, _) in zip(values, fields, strict=True):
        bits = (got >> at) % (1 << width)
        if (bits - value) % (1 << width):
            where = f"bit {at}" if width == 1 else f"bits {at} to {at + width - 1}"
            spec = SIGNED if value < 0 else PLACE[1] if at else PLACE[0]
            there, due = f"{bits:0{width}b} there", f"{value % (1 << width):0{width}b}"
            raise wrong(f"{name} must be {value}, in {where}.", spec=spec, expected=due,
                        got=f"{there}, of {binary(got)}")  # fmt: skip
        at += width
    if got >> at:
        spec = SIGNED if min(values) < 0 else ZEROS
        raise wrong("No bit may be set after the last field.", got=binary(got), spec=spec)


def same_values(decode: Any, word: int, fields: Fields) -> None:
    """Wrong unless the answer finds in a word what stands in the bits of its fields."""
    got, at, wrong = decode(word, fields), 0, partial(Wrong, program=told(fields, word=word))
    if not isinstance(got, (Sequence, np.ndarray)) or len(got) != len(fields):
        problem = "The answer must be a list with a value for each field."
        raise wrong(problem, got=returned(got), spec=BACK[2])
    for value, (name, width, signed) in zip(got, fields, strict=True):
        bits = (word >> at) % (1 << width)
        due = bits - (1 << width) if signed and bits >> (width - 1) else bits
        if not np.isscalar(value) or value != due:
            held = f"the value of bits {bits:0{width}b}{', signed' if signed else ''}"
            spec = BACK_SIGNED if signed else BACK[1]
            raise wrong(f"{name} must be the value of its bits.", got=f"{name} = {value}",
                        expected=held, spec=spec)  # fmt: skip
        at += width


def told(fields: Fields, values: Sequence[int] = (), word: int | None = None) -> str:
    """A line for each field, the lowest first, and one for the word."""
    lines = [f"{name}: {width} bit{'s' * (width > 1)}{', signed' * signed}"
             for name, width, signed in fields]  # fmt: skip
    if word is not None:
        return "\n".join([*lines, f"word {binary(word)}"])
    return "\n".join(f"{line}, {value}" for line, value in zip(lines, values, strict=True))


def binary(word: int) -> str:
    return f"{word:#b}" if abs(word) < 1 << 24 else f"{word:#x}"


@checks("u13.encode", given=cases(), examples=60, what="words of random fields",
        spec=[*PLACE, SIGNED, ZEROS])  # fmt: skip
def each_in_its_bits(encode, case):
    """Each value is in the bits of its own field."""
    same_word(encode, *case)


@checks("u13.encode", given=misfits(), examples=60, what="values that do not fit",
        spec=[RAISES, RANGE, SIGNED_RANGE, NAMES])  # fmt: skip
def what_does_not_fit(encode, case):
    """A value below the least of its field, or above the greatest."""
    refuses(encode, *case)


def refuses(encode: Any, values: list[int], fields: Fields, bad: list[str]) -> None:
    """Wrong unless the answer raises a ValueError that names a field that is bad, and no other."""
    messages = []

    def tried() -> Any:
        try:
            return encode(list(values), list(fields))
        except Exception as error:
            messages.append(str(error))
            raise

    signed = {name: signed for name, _, signed in fields}
    spec = SIGNED_RANGE if signed[bad[0]] else RANGE
    raises(ValueError, tried, f"{bad[0]} cannot hold this value, so ValueError must be raised.",
           program=told(fields, values), spec=spec)  # fmt: skip
    named = [name for name in signed if name in messages[0]]
    if not named or not set(named) <= set(bad):
        raise Wrong("The text of the ValueError must name the field.", got=messages[0],
                    program=told(fields, values), expected=f"a text with {bad[0]!r}"
                    f"{' and no other name' if named else ''}", spec=NAMES)  # fmt: skip


@checks("u13.encode", spec=PLACE)
def the_words_of_the_chip(encode):
    """The chip's own words of eight instructions."""
    for instruction in assemble(PROGRAM):
        same_word(encode, *spelled(instruction))
    return "8 instructions of the chip"


@checks("u13.decode", given=words(), examples=60, what="words of random fields",
        spec=[*BACK, BACK_SIGNED])  # fmt: skip
def finds_each(decode, case):
    """Each value is the one in the bits of its field."""
    number, fields = case
    same_values(decode, number, fields)


@checks("u13.decode", given=longer_words(), examples=40, what="words that are too long",
        spec=BEHIND)  # fmt: skip
def nothing_behind_the_last(decode, case):
    """A bit after the last field."""
    word, fields = case
    raises(ValueError, lambda: decode(word, list(fields)),
           "A bit is set after the last field, so ValueError must be raised.", spec=BEHIND,
           program=told(fields, word=word))  # fmt: skip


@checks("u13.decode", spec=BACK[3])
def back_from_the_chip(decode):
    """Eight words of the chip."""
    program = assemble(PROGRAM)
    words = library_words(program)
    for number, instruction in enumerate(program):
        word = int.from_bytes(words[number * WORD : (number + 1) * WORD], "little")
        same_values(decode, word, spelled(instruction)[1])
    return "8 words of the chip"
