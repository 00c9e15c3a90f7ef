"""Text to tree: what is read, and what is said of what cannot be."""

import pytest

from course_lib.mlir.toy.ast import show
from course_lib.mlir.toy.lexer import tokens
from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.source import ToyError

WRONG = {  # a program and the first line of the error, with line and column
    "x": "1:1 syntax error: expected 'def' or 'struct', got 'x'",
    "def f() {\n  return 1\n}": "3:1 syntax error: expected ';' after a statement, got '}'",
    "def f() { return (1 + 2; }": "1:24 syntax error: expected ')' after the expression in "
    "parentheses, got ';'",
    "def f(": "1:7 syntax error: expected the name of a parameter, got the end of the text",
    "def f() { var a<2>; }": "1:19 syntax error: expected '=' and a value: a needs one, got ';'",
    "def f() { var a<0> = 1; }": "1:17 syntax error: expected a size: a whole number from 1 to "
    "100000, got '0'",
    "def f() { var a<2.5> = 1; }": "1:17 syntax error: expected a size: a whole number from 1 to "
    "100000, got '2.5'",
    "def f() { return a - b; }": "1:20 syntax error: expected an operator of Toy, which are '+' "
    "and '*', got '-'",
    "def f() { return 1.2.3; }": "1:18 expected a number such as 2 or 2.5, or a name, got '1.2.3'",
    "def f() { return 2x; }": "1:18 expected a number such as 2 or 2.5, or a name, got '2x'",
    "def f() { $ }": "1:11 expected a token of Toy, got the character '$'",
    "def f() { var a = [[1, 2], [3]]; }": "1:28 the elements of an array have one shape, here <2> "
    "and <1>",
    "def f() { var a = [1, [2]]; }": "1:23 the elements of an array have one shape, here a number "
    "and <1>",
    "def f() { var a = []; }": "1:20 syntax error: expected a number or '[', got ']'",
    "def f() { var a = print(1); }": "1:19 print is a statement: it has no value",
    "struct S { a; }": "1:13 syntax error: expected the name of a field, got ';'",
    "def return() {}": "1:5 syntax error: expected the name of a function, got 'return'",
    "def f() { var a = " + 200 * "(": "1:119 more than 100 brackets are open here",
    "def f() { var a = " + 200 * "[": "1:119 more than 100 brackets are open here",
    "def f() { S a = " + 200 * "{": "1:117 more than 100 brackets are open here",
}


@pytest.mark.parametrize("text", WRONG)
def test_an_error_says_line_column_and_what_was_expected(text):
    with pytest.raises(ToyError) as caught:
        parse(text)
    (place,) = caught.value.places
    assert f"{place.line}:{place.column} {caught.value.what}" == WRONG[text]


def test_an_error_shows_the_line_with_a_caret():
    text = "def main() {\n\tvar a = [1, 2;\n}"
    with pytest.raises(ToyError) as caught:
        parse(text)
    shown = caught.value.shown("a.toy", text)
    assert shown.splitlines()[1:] == [
        "  at a.toy:2:15",
        "    \tvar a = [1, 2;",
        "    \t             ^",
    ]


def test_tokens_know_their_place_behind_remarks_and_lines():
    found = {t.text: (t.place.line, t.place.column) for t in tokens("# one\n\n  def # two\n f")}
    assert found == {"def": (3, 3), "f": (4, 2), "": (4, 3)}


@pytest.mark.parametrize("number", ["7", "7.", "0.5", ".5"])
def test_numbers(number):
    assert [t.kind for t in tokens(number)] == ["number", "end"]


def test_products_bind_tighter_and_sums_go_from_left_to_right():
    lines = show(parse("def f(a) { return a + a * a + a; }")).splitlines()
    assert [line.split(" @")[0].strip() for line in lines[3:]] == [
        "Binary +", "Binary +", "Name a", "Binary *", "Name a", "Name a", "Name a",
    ]  # fmt: skip


def test_an_empty_text_is_a_module_without_anything():
    assert show(parse("# nothing")) == ""
