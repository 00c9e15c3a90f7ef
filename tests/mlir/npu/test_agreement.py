"""The dialect in C++ refuses what the one in Python refuses, whatever is wrong: operations with a
memory, an element type, a layout, a size or a position changed at random, on several chips."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("xdsl")

from course_lib.mlir.npu.module import NpuError, read, verify

TYPES = {
    "x": "memref<9x8xi8, #npu.space<dram>>",
    "w": "memref<8x5xi8, #npu.panels<4>, #npu.space<dram>>",
    "p": "memref<2x2x4xi32, #npu.space<dram>>",
    "y": "memref<9x5xi8, #npu.space<dram>>",
    "z": "memref<9x5xi32, #npu.space<dram>>",
    "i": "index",
    "a": "memref<9x8xi8, #npu.space<acts>>",
    "b": "memref<8x4xi8, #npu.space<weights>>",
    "c": "memref<8x?xi8, #npu.space<weights>>",
    "s": "memref<9x4xi32, #npu.space<accs>>",
    "e": "memref<2x4xi32, #npu.space<params>>",
    "q": "memref<1x2x4xi32, #npu.space<params>>",
    "o": "memref<9x4xi8, #npu.space<acts>>",
    "as": "memref<2x9x8xi8, #npu.space<acts>>",
    "ws": "memref<1x2x8x4xi8, #npu.space<weights>>",
    "ss": "memref<1x8x4xi32, #npu.space<accs>>",
}
GOOD = [
    "npu.product %x, %w, %p into %y : $x, $w, $p into $y",
    "npu.product %x, %w into %z {low = 0 : i64} : $x, $w into $z",
    "%t = npu.buffer : $as",
    "%t = npu.buffer : $ss\n  %u = npu.buffer : $ss",
    "%t = npu.slot %as[%i] [9, 8] : $as to $a",
    "%t = npu.slot %ws[0, %i] [8, %i] : $ws to $c",
    "npu.dma_load %x[0, 0] [9, 8] to %a : $x to $a",
    "npu.dma_load %w[%i, 0] [8, 4] to %b : $w to $b",
    "npu.dma_load %w[0, 4] [8, %i] to %c : $w to $c",
    "npu.dma_load %p[1, 0, 0] [1, 2, 4] to %q : $p to $q",
    "npu.dma_store %o to %y[%i, 0] [9, 4] : $o to $y",
    "npu.dma_store %s to %z[0, 0] [9, 4] : $s to $z",
    "npu.clear %s : $s",
    'npu.matmul %a, %b into %s {dataflow = "os", overwrite} : $a, $b into $s',
    "npu.activate %s, %e into %o {low = -128 : i64, high = 127 : i64} : $s, $e into $o",
]
CHIPS = [
    '{preset = "teaching"}', '{preset = "teaching", cols = 5 : i64}', '{preset = "rtl"}',
    '{preset = "teaching", acts = 128 : i64, banks = [2, 4, 1]}', "{cols = 4 : i64}",
]  # fmt: skip
MEMORIES = ["dram", "weights", "acts", "accs", "params"]
NUMBERS = ["0", "1", "2", "3", "4", "5", "8", "9", "16", "17", "33", "64", "129", "1000", "65536",
           "?", "-1", "-129"]  # fmt: skip
LAYOUTS = ["", "#npu.panels<4>, ", "#npu.panels<3>, ", "#npu.panels<0>, ", "strided<[16, 1]>, ",
           "affine_map<(d0, d1) -> (d1, d0)>, "]  # fmt: skip
CHANGES = [  # a place in a text, and what may stand there
    (r"(?<=space<)\w+", MEMORIES),
    (r"\bi(8|32|64)\b", ["i8", "i32", "i64", "f32"]),
    (r"#npu.panels<\d+>, |(?=#npu.space)", LAYOUTS),
    (r"(?<=[<x\[])(\d+|\?)(?=x)|(?<=[\[ ])-?\d+(?=[,\]])|-?\d+(?= : i64)", NUMBERS),
    (r"memref<", ["memref<2x", "memref<1x"]),
    (r'"os"', ['"ws"', '"is"', '""']),
]


def test_what_is_good_for_one_is_good_for_the_other(refused):
    for text in GOOD:
        program = _module(text, TYPES, CHIPS[0])
        assert refused(program) == ""
        verify(read(program))


@given(st.data())
def test_a_program_changed_at_random_is_refused_by_both_or_by_neither(refused, data):
    types, body = dict(TYPES), data.draw(st.sampled_from(GOOD))
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(["", *re.findall(r"\$(\w+)", body)]))
        if name:
            types[name] = _changed(data, types[name])
        else:
            body = _changed(data, body)
    program = _module(body, types, data.draw(st.sampled_from(CHIPS)))
    try:
        verify(read(program))
        ours = ""
    except NpuError as error:
        ours = str(error)
    theirs = refused(program)
    assert bool(theirs) == bool(ours), f"{program}\nours: {ours}\ntheirs: {theirs}"


def _changed(data, text):
    places = [(found.span(), new) for place, new in CHANGES for found in re.finditer(place, text)]
    if not places:
        return text
    (begin, end), new = data.draw(st.sampled_from(places))
    return text[:begin] + data.draw(st.sampled_from(new)) + text[end:]


def _module(body, types, chip):
    used = {name: kind for name, kind in types.items() if re.search(rf"%{name}\b", body)}
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in used.items())
    body = re.sub(r"\$(\w+)", lambda found: types[found[1]], body)
    return (f"module attributes {{npu.chip = {chip}}} {{ func.func @f({arguments}) {{\n  {body}\n"
            "  func.return } }")  # fmt: skip
