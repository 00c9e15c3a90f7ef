"""What the dialect refuses, in Python, C++ and IRDL, and in which words; and that no text ends in a
traceback."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("xdsl")

from course_lib.accelerator.chip import PRESETS
from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.irdl_text import DEFINITION, generic
from course_lib.mlir.npu.module import NpuError, read, verify
from course_lib.mlir.npu.stages import compile_npu

TYPES = {
    "x": "memref<9x8xi8, #npu.space<dram>>",
    "w": "memref<8x5xi8, #npu.panels<4>, #npu.space<dram>>",
    "p": "memref<2x2x4xi32, #npu.space<dram>>",
    "y": "memref<9x5xi8, #npu.space<dram>>",
    "i": "index",
    "a": "memref<9x8xi8, #npu.space<acts>>",
    "b": "memref<8x4xi8, #npu.space<weights>>",
    "s": "memref<9x4xi32, #npu.space<accs>>",
    "e": "memref<2x4xi32, #npu.space<params>>",
    "o": "memref<9x4xi8, #npu.space<acts>>",
    "as": "memref<2x9x8xi8, #npu.space<acts>>",
}


def module(body: str, chip: str = '{preset = "teaching"}') -> str:
    arguments = ", ".join(f"%{name}: {type}" for name, type in TYPES.items())
    return (f"module attributes {{npu.chip = {chip}}} {{ func.func @f({arguments}) {{\n  {body}\n"
            "  func.return } }")  # fmt: skip


def typed(text: str) -> str:
    """Types for the operands that stand in the text: `npu.clear %s : $s`."""
    return re.sub(r"\$(\w+)", lambda found: TYPES[found[1]], text)


GOOD = [
    "npu.product %x, %w, %p into %y : $x, $w, $p into $y",
    "%t = npu.slot %as[%i] [9, 8] : $as to $a",
    "npu.dma_load %x[0, 0] [9, 8] to %a : $x to $a",
    "npu.dma_load %w[%i, 0] [8, 4] to %b : $w to $b",
    "npu.dma_store %o to %y[%i, 0] [9, 4] : $o to $y",
    "npu.clear %s : $s",
    "npu.matmul %a, %b into %s {overwrite} : $a, $b into $s",
    'npu.matmul %a, %b into %s {dataflow = "os"} : $a, $b into $s',
    "npu.activate %s, %e into %o {low = 0 : i64, high = 9 : i64} : $s, $e into $o",
]


@pytest.mark.parametrize("text", GOOD)
def test_what_is_right_is_left_alone(text):
    verify(read(module(typed(text))))


BAD = [
    # an operand in the wrong memory
    ("npu.matmul %o, %a into %s : $o, $a into $s", "w is in weights, not in acts"),
    ("npu.matmul %b, %b into %s : $b, $b into $s", "x is in acts, not in weights"),
    ("npu.matmul %a, %b into %o : $a, $b into $o", "sums is in accs, not in acts"),
    ("npu.clear %o : $o", "sums is in accs, not in acts"),
    ("npu.activate %s, %e into %s {low = 0 : i64, high = 9 : i64} : $s, $e into $s",
     "out is in acts, not in accs"),
    ("npu.dma_load %a[0, 0] [9, 8] to %a : $a to $a", "the array is in dram, not in acts"),
    ("npu.dma_load %x[0, 0] [9, 8] to %x : $x to $x", "tile is in acts or weights or params, not"),
    ("npu.dma_store %b to %x[0, 0] [8, 4] : $b to $x", "the tile is in acts or accs, not in w"),
    ("npu.clear %m : memref<9x4xi32>", "does not say in which memory it is"),
    # sizes that differ
    ("npu.dma_load %x[0, 0] [9, 7] to %a : $x to $a", "the window is 9x7, the tile 9x8"),
    ("npu.dma_load %x[1, 0] [9, 8] to %a : $x to $a", "reaches 10, the array 9x8 does not"),
    ("npu.dma_load %p[0, 0, 0] [1, 2, 4] to %e : $p to $e", "the window is 1x2x4, the tile 2x4"),
    ("npu.dma_load %w[0, 2] [8, 4] to %b : $w to $b", "reaches 6, the array 8x5 does not"),
    ("npu.dma_load %w[0, 1] [8, 4] to %b : $w to $b", "columns 1 to 5 are no panel of 4"),
    ("npu.dma_load %x[0] [9, 8] to %a : $x to $a", "there is no transfer between"),
    ("npu.dma_load %x[-1, 0] [9, 8] to %a : $x to $a", "not below 0: -1x0"),
    ("npu.matmul %o, %b into %s : $o, $b into $s", "the depth of x is 4, that of w 8"),
    ("npu.product %x, %w, %p into %x : $x, $w, $p into $x", "x @ w is 9x5, y 9x8"),
    ("npu.product %x, %w into %y : $x, $w into $y", "sums are i32, y has i8"),
    # what the machine has not
    ("%t = npu.buffer : memref<2x64x9xi8, #npu.space<acts>>",
     "buffers of 1,536 elements in acts, but it holds 1,024"),
    ("%t = npu.buffer : memref<1x64x9xi8, #npu.space<acts>>\n"
     "  %u = npu.buffer : memref<1x64x9xi8, #npu.space<acts>>",
     "buffers of 1,536 elements in acts"),
    ("%t = npu.buffer : memref<1x9x5xi32, #npu.space<accs>>", "a row of sums is 4 wide, not 5"),
    ("%t = npu.buffer : memref<2x9x8xi8, #npu.space<dram>>", "on the chip, not in dram"),
    ("%t = npu.buffer : memref<2x?x8xi8, #npu.space<acts>>", "all sizes known, not 2x?x8"),
    ("%t = npu.slot %as[2] [9, 8] : $as to $a", "there is no slot 2, there are 2"),
    ("%t = npu.slot %as[0] [9, 9] : $as to memref<9x9xi8, #npu.space<acts>>",
     "a tile of 9x9 does not fit a slot of 9x8"),
    ("%t = npu.slot %as[0] [9, 4] : $as to $a", "the tile is 9x4, its type 9x8"),
    ("%t = npu.slot %as[0, 0] [9, 8] : $as to $a", "2 positions and a tile of 2 sizes for 2x9x8"),
    ("npu.matmul %a, %wide into %sum : $a, memref<8x5xi8, #npu.space<weights>> into "
     "memref<9x5xi32, #npu.space<accs>>", "5 columns of weights, but the array has 4"),
    ("npu.activate %s, %e into %o {low = 5 : i64, high = 3 : i64} : $s, $e into $o",
     "low and high are in order and from -128 to 127, got (5, 3)"),
    ('npu.matmul %a, %b into %s {dataflow = "is"} : $a, $b into $s', "ws or os, not 'is'"),
    # types
    ("npu.clear %m : memref<9x4xi32, #npu.space<cache>>", "there is no memory 'cache'"),
    ("npu.clear %m : memref<9x4xi8, #npu.space<accs>>", "accs holds i32, not i8"),
    ("npu.product %m, %w, %p into %y : memref<9x8xi8, strided<[16, 1]>, #npu.space<dram>>, "
     "$w, $p into $y", "lies row by row or in panels"),
    ("npu.clear %m : memref<9x4xi32, strided<[8, 1]>, #npu.space<accs>>",
     "only arrays in dram have a layout"),
    # a slot of an array, a tile as parameters of a whole product, a product of what is no matrix
    ("%t = npu.slot %x[0] [8] : $x to memref<8xi8, #npu.space<dram>>",
     "the buffer is in weights or acts or accs or params, not in dram"),
    ("npu.product %x, %w, %e into %y : $x, $w, $e into $y", "params is in dram, not in params"),
    ("npu.matmul %as, %b into %s : $as, $b into $s", "x is a matrix, not memref<2x9x8xi8"),
]  # fmt: skip

# Where C++ says it in other words: those of a constraint in npu.td, or of the parser.
THEIRS = {
    "w is in weights, not in acts": "operand #1 must be memref in weights of 8-bit",
    "x is in acts, not in weights": "operand #0 must be memref in acts of 8-bit",
    "out is in acts, not in accs": "operand #2 must be memref in acts of 8-bit",
    "the array is in dram, not in acts": "operand #0 must be memref in dram of 8-bit",
    "tile is in acts or weights or params, not": "operand #1 must be memref in acts of",
    "the tile is in acts or accs, not in w": "operand #1 must be memref in acts of",
    "sums is in accs, not in acts": "must be memref in accs of 32-bit",
    "does not say in which memory it is": "operand #0 must be memref in accs of 32-bit",
    "on the chip, not in dram": "result #0 must be memref in weights of",
    "ws or os, not 'is'": "attribute 'dataflow' failed to satisfy constraint",
    "there is no memory 'cache'": "npu::Memory to be one of: dram, weights, acts, accs, params",
    "accs holds i32, not i8": "operand #0 must be memref in accs of 32-bit",
    "only arrays in dram have a layout": "in accs of 32-bit signless integer, without a layout",
    "the buffer is in weights or acts or accs or params, not in dram":
        "operand #0 must be memref in weights of",
    "sums are i32, y has i8": "sums are i32, y has 'i8'",
    "x is a matrix, not memref<2x9x8xi8": "x is a matrix, not 'memref<2x9x8xi8",
    "params is in dram, not in params": "operand #2 must be memref in dram of",
}  # fmt: skip
BETWEEN = "\n// -----\n"


def wrong(text: str) -> str:
    """A module with this body; what it names and no parameter is comes out of nothing."""
    found = typed(text)
    for name, type in re.findall(r"%(m|wide|sum)\b", text) and _fresh(found):
        found = f'%{name} = "builtin.unrealized_conversion_cast"() : () -> {type}\n  ' + found
    return module(found)


@pytest.mark.parametrize("text, said", BAD)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(NpuError) as error:
        verify(read(wrong(text)))
    assert said in str(error.value)


def test_in_cpp_the_same_is_wrong_at_the_same_operation(refused):
    """One run of mlir-opt for all; the wrong operation stands in the last line but one."""
    modules = [wrong(text) for text, _ in BAD]
    errors = refused(BETWEEN.join(modules), "--split-input-file")
    found = dict(reversed(re.findall(r"^<stdin>:(\d+):\d+: error: (.*)", errors, re.MULTILINE)))
    line = 0
    for (text, said), whole in zip(BAD, modules, strict=True):
        last = line + whole.count("\n") - ("'cache'" in said)  # a type is named one line above
        what = found.pop(str(last), "")
        assert THEIRS.get(said, said) in what, (text, what)
        line += (whole + BETWEEN).count("\n")
    assert not found


def test_irdl_refuses_what_data_can_say(require_tool):
    readable = [(wrong(text), said) for text, said in BAD if "'cache'" not in said]
    generics = [generic(read(text)) for text, _ in readable]
    command = [require_tool("mlir-opt-22"), f"--irdl-file={DEFINITION}", "--split-input-file"]
    text = BETWEEN.join(generics)
    errors = subprocess.run(command, input=text, text=True, capture_output=True).stderr
    lines = [int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error", errors, re.MULTILINE)]
    refused, first = [], 1
    for (_, said), whole in zip(readable, generics, strict=True):
        end = first + (whole + BETWEEN).count("\n")
        refused += [said] if any(first <= line < end for line in lines) else []
        first = end
    assert refused == ["ws or os, not 'is'"]


def _fresh(text: str) -> list[tuple[str, str]]:
    """Names that no parameter has, with the types that the text gives them."""
    operands = re.findall(r"%(\w+)", text.split(" : ")[0])
    types = re.findall(r"memref<(?:[^<>]|<[^<>]*>)*>", text.split(" : ", 1)[1])
    pairs = zip(operands, types, strict=False)
    return [(name, type) for name, type in pairs if name in ("m", "wide", "sum")]


@pytest.mark.parametrize("chip, said", [
    ('"npu"', "npu.chip is a dictionary"),
    ('{preset = "cray"}', "cray"),
    ("{rows = 0 : i64}", "rows is a whole number >= 1"),
    ("{lanes = 4 : i64}", "lanes"),
    ("{acts = 1001 : i64}", "not a multiple of 8"),
])  # fmt: skip
def test_a_chip_that_cannot_be(chip, said):
    with pytest.raises(NpuError, match=re.escape(said)):
        verify(read(module(typed(GOOD[0]), chip)))


@pytest.mark.parametrize("chip, said", [
    ('"npu"', 'npu.chip: is a dictionary: {preset = "npu"'),
    ('{preset = "cray"}', 'npu.chip: there is no chip "cray", there are npu, teaching, scalesim, '),
    ("{rows = 0 : i64}", "npu.chip: rows is a whole number >= 1, got 0"),
    ("{params = 5000 : i64}", "npu.chip: params is at most 4,096, what its field in an"),
    ("{lanes = 4 : i64}", "npu.chip: a chip has no lanes"),
    ("{acts = 1001 : i64}", "npu.chip: acts has 1001, not a multiple of 8"),
    ("{banks = [40, 20, 1]}", "npu.chip: banks of weights, acts and accs, at most 60 together"),
])  # fmt: skip
def test_a_chip_that_cannot_be_in_cpp(refused, chip, said):
    """The dialect's own hook says so, at the module."""
    with pytest.raises(NpuError):
        verify(read(module(typed(GOOD[0]), chip)))
    assert f"<stdin>:1:1: error: {said}" in refused(module(typed(GOOD[0]), chip))


@pytest.mark.parametrize("change, said", [
    (("linalg.matmul", "linalg.mat"), "dense.mlir:8:22: Operation linalg.mat"),
    (("arith.maximumf %3, %low", "arith.addf %3, %low"), "expected arith.maximumf, got arith.addf"),
    (("math.roundeven", "math.floor"), "expected math.roundeven, got math.floor"),
    (("constant 0 : i32", "constant 1 : i32"), "the sums begin with linalg.fill of 0 : i32"),
    (("constant 0.0 : f32", "constant 0.5 : f32"), "a limit of the pipeline is a constant"),
    (("constant 0.0 : f32", "constant -129.0 : f32"), "from -128 to 127, got (-129, 127)"),
    (("affine_map<(m, n) -> (n)>", "affine_map<(m, n) -> (m)>"), "is read by (d0, d1) -> (d1)"),
    (("return %y : tensor<5x5xi8>", "return %place : tensor<5x5xi8>"), "linalg.matmul, and behind"),
])  # fmt: skip
def test_a_product_that_the_chip_cannot_compute(change, said):
    text = linalg_text(5, 8, 5, low=0)
    assert change[0] in text
    with pytest.raises(NpuError) as error:
        compile_npu(text.replace(*change), PRESETS["teaching"], "dense.mlir", until="product")
    assert said in str(error.value)


@pytest.mark.parametrize("text, said", [
    ("npu.dma_load %x[0, 0] [9, 8] to %a : $x to $a", "a tile is a slot of a buffer"),
    ("affine.for %j = 0 to %i {\n npu.clear %s : $s\n }", "this index is not known"),
    ("affine.for %j = 0 to 9 step 0 {\n npu.clear %s : $s\n }", "a positive step"),
    ("affine.for %j = 0 to 99999 {\n affine.for %k = 0 to 99999 {\n npu.clear %s : $s\n }\n }",
     "at most 200,000 operations"),
    ("%b1 = npu.buffer : memref<1x9x4xi32, #npu.space<accs>>\n"
     "%t = npu.slot %b1[0] [9, 4] : memref<1x9x4xi32, #npu.space<accs>> to $s\n"
     "npu.dma_store %t to %q[0, 0] [9, 4] : $s to memref<9x4xi32, #npu.space<dram>>",
     "never began"),
    ("%b1 = npu.buffer : memref<1x9x4xi32, #npu.space<accs>>\n"
     "%t = npu.slot %b1[0] [9, 4] : memref<1x9x4xi32, #npu.space<accs>> to $s\nnpu.clear %t : $s",
     "nothing is added to these sums"),
])  # fmt: skip
def test_programs_written_by_hand_that_cannot_be_emitted(text, said):
    text = module(typed(text)).replace(
        "%i: index", "%i: index, %q: memref<9x4xi32, #npu.space<dram>>"
    )
    with pytest.raises(NpuError, match=said):
        compile_npu(text).text("asm")


@pytest.mark.parametrize("text, place", [
    ('module {\n  "builtin.module' + " long" * 99, "2:3"), (r'"a\" // ', "1:1"), ('"" "', "1:4"),
    ('"' + "long " * 99 + r'\q"', "1:1"),
])  # fmt: skip
def test_a_string_that_does_not_end_is_no_long_story(text, place):
    with pytest.raises(NpuError) as error:
        read(text, "f.mlir")
    assert str(error.value).startswith(f"f.mlir:{place}: here begins a string that has no end")


def test_quotes_in_strings_and_remarks_are_none():
    read('module attributes {a = "1\\\\", b = "\\"", c = "\\0A"} {} // "')


WORDS = re.findall(r"\w+|[^\w\s]|\s+", linalg_text(9, 8, 5) + module(typed("\n".join(GOOD))))


@given(st.data())
def test_mangled_text_gets_an_answer(data):
    """Some words of a program dropped, doubled or exchanged."""
    source = data.draw(st.sampled_from([
        linalg_text(3, 4, 5), compile_npu(linalg_text(3, 4, 5), PRESETS["teaching"], until="tile")
        .text("tile"), module(typed("\n".join(GOOD[:3]))),
    ]))  # fmt: skip
    words = re.findall(r"\w+|[^\w\s]|\s+", source)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at] = data.draw(st.sampled_from(["", words[at] * 2, *WORDS, "0", "-1", "999999"]))
    try:
        compile_npu("".join(words), PRESETS["teaching"]).text("asm")
    except ValueError as error:
        assert str(error)
