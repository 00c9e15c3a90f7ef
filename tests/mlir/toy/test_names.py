"""The tree to the dialect: names that are unknown, taken or misused are errors with a place."""

import pytest

from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.source import ToyError

pytest.importorskip("xdsl")

PAIR = "struct P { var a; var b; } "
IN_MAIN = {  # what stands in main, and what is said of it
    "print(x);": "there is no variable 'x'",
    "f(1);": "there is no function 'f' above",
    "main();": "there is no function 'main' above",
    "var a = 1; var a = 2;": "there is a variable 'a' already",
    "transpose(1, 2);": "transpose takes one array, got 2",
    "return; print(1);": "nothing is reached behind return",
    "return 1;": "main takes no parameters and returns nothing",
    "Q q = {1, 2};": "there is no struct 'Q' above",
    "P p = {1};": "P has 2 fields, here are 1 values",
    "P p = {1, {2, 3}};": "P.b is an array",
    "P p = 1;": "p is a P, and this value an array",
    "P p = {1, 2}; print(p);": "print needs an array, and this is a struct",
    "P p = {1, 2}; print(p + p);": "+ needs an array, and this is a struct",
    "P p = {1, 2}; print(p.c);": "P has no field 'c', but a, b",
    "var a = 1; print(a.b);": "a value with a field 'b' is a struct",
    "var p = {1, 2};": "a struct literal stands behind the name of its struct: NAME v = {...}",
    "print({1, 2});": "a struct literal stands only in NAME v = {...}",
    "P p = {1, 2}; var q<2> = p;": "a shape needs an array, and this is a struct",
    "var a<2, 3> = [1, 2];": "toy.reshape: <2> has 2 elements, <2, 3> has 6",
    "print([1, 2] * 2);": "toy.mul needs two tensors of one shape, got <2> and a number",
    "print([1, 2] + [1, 2, 3]);": "toy.add needs two tensors of one shape, got <2> and <3>",
}
WHOLE = {
    "def f() {}": "a program begins in a function 'main', and there is none",
    "def main(a) {}": "main takes no parameters and returns nothing",
    "def f() {} def f() {}": "there are two definitions of 'f'",
    "def print() {}": "'print' is a function of Toy already",
    "def transpose(a) {}": "'transpose' is a function of Toy already",
    "struct S { var a; } def S() {}": "there are two definitions of 'S'",
    "def f(a, a) {}": "there is a variable 'a' already",
    "struct S {}": "struct 'S' has no fields",
    "struct S { S a; }": "'S' cannot contain itself",
    "struct S { var a; var a; }": "'S' has two fields 'a'",
    "def f(a) { return f(a); } def main() {}": "there is no function 'f' above",
    "def f(a) {} def main() { f(1, 2); }": "f takes 1 arguments, got 2",
    "def f() {} def main() { print(f()); }": "f returns nothing, so it has no value",
    PAIR + "def f(P p) {} def main() { f(1); }": "p of f is a P, and this value an array",
    PAIR + "def f(p) {} def main() { P p = {1, 2}; f(p); }": "p of f is an array, and this ",
    PAIR
    + "struct Q { var a; } def f(Q q) {} def main() { P p = {1, 2}; f(p); }": "q of f is a Q, ",
}


def said(text: str) -> str:
    from course_lib.mlir.toy.stages import compile_toy

    with pytest.raises(ToyError) as caught:
        compile_toy(text, until="toy")
    return caught.value.what


@pytest.mark.parametrize("body", IN_MAIN)
def test_what_is_wrong_in_main(body):
    assert said(f"{PAIR} def main() {{ {body} }}") == IN_MAIN[body]


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_wrong_with_a_program(text):
    assert said(text).startswith(WHOLE[text])


def test_a_function_may_return_a_struct_and_its_fields_have_names():
    from course_lib.mlir.toy.stages import compile_toy

    text = PAIR + "def same(P p) { return p; } def main() { P p = {1, 2}; print(same(p).b); }"
    parse(text)
    assert compile_toy(text).run().numbers == [2]
