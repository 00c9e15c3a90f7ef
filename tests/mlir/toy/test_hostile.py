"""Whatever comes in: an answer, or soon an error in words with its place; never a traceback."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.__main__ import main
from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.source import ToyError

pytest.importorskip("xdsl")
pytest.importorskip("llvmlite")

from course_lib.mlir.toy.stages import compile_toy

WORDS = ["def", "return", "struct", "var", "print", "transpose", "main", "f", "a", "b", "S", "1",
         "2.5", "(", ")", "{", "}", "[", "]", "<", ">", ",", ";", ".", "=", "+", "*", "-", "#",
         "\n", "$", "\0", "é"]  # fmt: skip
EXAMPLE = (Path(__file__).parent / "filecheck" / "struct.toy").read_text()
PIECES = re.findall(r"\w+|[^\w\s]|\s+", EXAMPLE.split("# CHECK")[0])


def in_main(body: str) -> str:
    return f"def main() {{\n  {body}\n}}\n"


def doubled(n: int) -> str:
    """A program whose n functions each call the one above twice."""
    lines = ["def f0(a) { return a + a; }"]
    lines += [f"def f{i}(a) {{ return f{i - 1}(a) + f{i - 1}(a); }}" for i in range(1, n)]
    return "\n".join([*lines, in_main(f"print(f{n - 1}(1));")])


def nested(n: int) -> str:
    lines = ["struct S0 { var a; var b; }"]
    lines += [f"struct S{i} {{ S{i - 1} a; S{i - 1} b; }}" for i in range(1, n)]
    return "\n".join([*lines, in_main("print(1);")])


BRACKETS = "more than 100 brackets are open here"
OPERATORS = "more than 200 operators in one statement"
HOSTILE = {
    "": "a program begins in a function 'main', and there is none",
    in_main("print(" + "(" * 9999 + "1" + ")" * 9999 + ");"): BRACKETS,
    in_main("print(" + "transpose(" * 9999): BRACKETS,
    in_main("print(" + "+".join(["1"] * 9999) + ");"): OPERATORS,
    in_main("var s = 1; print(s" + ".a" * 9999 + ");"): OPERATORS,
    in_main("print(" + "9" * 9999 + ");"): f"'{'9' * 27}...' does not fit into a 64-bit float",
    in_main("var a<1000000> = 1;"): "syntax error: expected a size: a whole number from 1 to",
    in_main("var a<" + "9" * 200 + "> = 1;"): "syntax error: expected a size: a whole number from ",
    in_main("var a<99999, 99999> = 1;"): "toy.reshape: an array has at most 100000 elements",
    in_main("print([" + "1, " * 100_000 + "1]);"): "toy.constant: an array has at most 100000",
    doubled(40): "toy.generic_call: with all calls inlined, f11 has more than 10000 operations",
    nested(40): "struct 'S5' has more than 100 fields, with those inside",
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_program_gets_an_error_in_words(text):
    with pytest.raises(ToyError) as caught:
        compile_toy(text)
    assert caught.value.what.startswith(HOSTILE[text])
    assert max(map(len, str(caught.value).splitlines())) < 120


@pytest.mark.parametrize("expression", [
    "(" * 98 + "1" + ")" * 98, "transpose(" * 98 + "1" + ")" * 98, "[" * 98 + "1" + "]" * 98,
    "+".join(["1"] * 201), "same(" * 98 + "+".join(["1"] * 201) + ")" * 98,
])  # fmt: skip
def test_what_is_within_the_limits_runs(expression):
    text = "def same(a) { return a; }\n" + in_main(f"print({expression});")
    assert len(compile_toy(text).run().numbers) == 1


SPLAT = "%x = toy.constant dense<1.0> :"
MLIR = {  # a module, or what stands in its main
    "hello": "syntax error: Operation hello is not registered",
    "func.func @main() { func.return }": "func.func: only a toy.func without parameters has loops",
    "toy.func @main(%x: i32) { toy.return }": "toy.func: only a toy.func without parameters has",
    "toy.print %x : tensor<*xf64>": "syntax error: values used but not defined",
    "%x = toy.constant dense<[(1.0, 2.0]> : tensor<2xf64>": "syntax error: xDSL's parser gives up",
    "%x = toy.constant 1": "syntax error: expected numbers, as in",
    f"{SPLAT} tensor<99999x99999xf64>": "syntax error: there is no room for more than 100000 elem",
    'toy.print "a long string without an end': "syntax error: here begins a string",
    r'toy.print "a long string with a strange escape \q"': "syntax error: here begins a string",
    f"{SPLAT} tensor<f64> %y = toy.reshape %x : tensor<f64> to tensor<?xf64>":
    "toy.reshape: a tensor of Toy has all of its sizes or none",
    "toy.generic_call @f() : () -> ()": "toy.generic_call: there is no function @f",
    "%x = toy.struct_constant " + "[" * 3000: "hostile.mlir: this program is nested too deeply",
}  # fmt: skip


@pytest.mark.parametrize("text", MLIR, ids=range(len(MLIR)))
def test_hostile_text_of_mlir_gets_an_error_in_words(text):
    said = MLIR[text]
    with pytest.raises(ToyError) as caught:
        whole = "main" in text or text == "hello"
        text = text if whole else f"toy.func @main() {{ {text} toy.return }}"
        compile_toy(text, "hostile.mlir")
    assert caught.value.what.startswith(said)


def test_a_file_that_is_not_text_is_named(tmp_path, capsys):
    path = tmp_path / "bytes.toy"
    path.write_bytes(b"def main() { print(\xff); }")
    assert main(["toy", str(path)]) == 1
    assert "bytes.toy is not text in UTF-8: byte 19 is 0xff" in capsys.readouterr().err


def test_a_file_of_windows_is_read(tmp_path, capsys):
    path = tmp_path / "bom.toy"
    path.write_bytes(b"\xef\xbb\xbfdef main() {\r\n  print(7);\r\n}\r\n")
    assert main(["toy", str(path)]) == 0
    assert capsys.readouterr().out.strip() == "7.000000"


def answers(text: str) -> None:
    """An error in words, or a program that is lowered to the end."""
    try:
        compile_toy(text, until="cf")
    except ToyError as error:
        assert str(error)


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_any_words(text):
    try:
        parse(text)
    except ToyError as error:
        assert error.places
    answers("def main() {" + text + "}")


@given(st.integers(0, len(PIECES) - 1), st.integers(0, 3), st.sampled_from(["", *WORDS]))
def test_a_program_with_a_hole_or_a_wrong_word(at, length, word):
    answers("".join([*PIECES[:at], word, *PIECES[at + length :]]))
