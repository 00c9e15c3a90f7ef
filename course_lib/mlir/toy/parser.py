"""Tokens to a tree (chapter 1), by recursive descent: a method for each rule of the grammar.

    module    = { function | struct } end
    struct    = "struct" name "{" { ("var" | name) name ";" } "}"
    function  = "def" name "(" [ param { "," param } ] ")" "{" { statement ";" } "}"
    param     = name | name name                                  # the first names a struct
    statement = "return" [ sum ] | "print" "(" sum ")" | declare | sum
    declare   = ("var" name [ "<" number { "," number } ">" ] | name name) "=" sum
    sum       = product { "+" product }
    product   = member { "*" member }
    member    = primary { "." name }
    primary   = number | array | braces | name | name "(" [ sum { "," sum } ] ")" | "(" sum ")"
    array     = "[" (array | number) { "," (array | number) } "]"
    braces    = "{" constant { "," constant } "}"                 # number, array or braces

>>> from course_lib.mlir.toy.ast import show
>>> print(show(parse("def main() { print(1 + 2 * 3); }")))
Function main @1:5
  Print @1:14
    Binary + @1:22
      Number 1 @1:20
      Binary * @1:26
        Number 2 @1:24
        Number 3 @1:28

Next room: `toy_interp.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from course_lib.mlir.toy import ast
from course_lib.mlir.toy.lexer import Token, tokens
from course_lib.mlir.toy.source import Place, ToyError

T = TypeVar("T")
DEEPEST = 100  # brackets in brackets: here a method calls itself for each, in the passes a function
OPERATORS = 200  # in a statement, for the same reason: Python's stack is a thousand calls high


def parse(text: str) -> ast.Module:
    """The tree of a program. ToyError: what was expected, what stands there, line and column."""
    return _Parser(tokens(text)).module()


class _Parser:
    def __init__(self, read: list[Token]) -> None:
        self.tokens, self.at = read, 0
        self.depth = self.operators = 0

    # ── tokens ──

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.now
        self.at += token.kind != "end"
        return token

    def sees(self, text: str) -> bool:
        return self.now.text == text

    def skip(self, text: str) -> bool:
        """Take this sign or keyword if it comes next."""
        is_next = self.sees(text)
        self.at += is_next
        return is_next

    def expect(self, text: str, why: str = "") -> Token:
        if not self.sees(text):
            raise self.wrong(repr(text) + (f" {why}" if why else ""))
        return self.take()

    def name(self, of: str) -> Token:
        if self.now.kind != "name":
            raise self.wrong(f"the name of {of}")
        return self.take()

    def wrong(self, expected: str) -> ToyError:
        return ToyError(f"syntax error: expected {expected}, got {self.now}", self.now.place)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """What is read inside of brackets, or could be."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ToyError(f"more than {DEEPEST} brackets are open here", self.now.place)
        yield
        self.depth -= 1

    def operator(self) -> Place:
        self.operators += 1
        if self.operators > OPERATORS:
            message = f"more than {OPERATORS} operators in one statement: give parts of it a name"
            raise ToyError(message, self.now.place)
        return self.take().place

    def several(self, item: Callable[[], T], end: str, why: str) -> tuple[T, ...]:
        """One or more, with commas between them, and then `end`."""
        items = [item()]
        while self.skip(","):
            items.append(item())
        self.expect(end, f"or ',' {why}")
        return tuple(items)

    # ── the grammar, top down ──

    def module(self) -> ast.Module:
        records: list[ast.Function | ast.Struct] = []
        while self.now.kind != "end":
            if self.skip("def"):
                records.append(self.function())
            elif self.skip("struct"):
                records.append(self.struct())
            else:
                raise self.wrong("'def' or 'struct'")
        return ast.Module(tuple(records))

    def struct(self) -> ast.Struct:
        name = self.name("a struct")
        self.expect("{", "and the fields of the struct")
        fields = []
        while not self.skip("}"):
            kind = None if self.skip("var") else self.name("a struct, 'var', or '}'").text
            field = self.name("a field")
            self.expect(";", "after a field")
            fields.append(ast.Param(field.place, field.text, kind))
        return ast.Struct(name.place, name.text, tuple(fields))

    def function(self) -> ast.Function:
        name = self.name("a function")
        self.expect("(", "and the parameters")
        params: tuple[ast.Param, ...] = ()
        if not self.skip(")"):
            params = self.several(self.param, ")", "after a parameter")
        self.expect("{", "and the body of the function")
        body = []
        while not self.skip("}"):
            body.append(self.statement())
            self.expect(";", "after a statement")
        return ast.Function(name.place, name.text, params, tuple(body))

    def param(self) -> ast.Param:
        name, struct = self.name("a parameter"), None
        if self.now.kind == "name":
            struct, name = name.text, self.take()
        return ast.Param(name.place, name.text, struct)

    def statement(self) -> ast.Statement:
        self.operators = 0
        place, after = self.now.place, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if self.skip("return"):
            return ast.Return(place, None if self.sees(";") else self.sum())
        if self.sees("print"):
            return self.print()
        if self.skip("var"):
            return self.declare(None)
        if self.now.kind == after.kind == "name":
            return self.declare(self.take().text)
        return self.sum()

    def print(self) -> ast.Print:
        place = self.take().place
        self.expect("(", "after print")
        value = self.sum()
        self.expect(")", "after the value to print")
        return ast.Print(place, value)

    def declare(self, struct: str | None) -> ast.Declare:
        name, shape = self.name("a variable"), None
        if struct is None and self.skip("<"):
            shape = self.several(self.size, ">", "after a size")
        self.expect("=", f"and a value: {name.text} needs one")
        return ast.Declare(name.place, name.text, shape, struct, self.sum())

    def size(self) -> int:
        text = self.now.text
        if not text.isdigit() or len(text) > len(str(ast.LARGEST)) or int(text) < 1:
            raise self.wrong(f"a size: a whole number from 1 to {ast.LARGEST}")
        return int(self.take().text)

    def sum(self) -> ast.Expr:
        with self.deeper():
            left = self.product()
            while self.sees("+"):
                left = ast.Binary(self.operator(), "+", left, self.product())
        if self.sees("-"):
            raise self.wrong("an operator of Toy, which are '+' and '*'")
        return left

    def product(self) -> ast.Expr:
        left = self.member()
        while self.sees("*"):
            left = ast.Binary(self.operator(), "*", left, self.member())
        return left

    def member(self) -> ast.Expr:
        value = self.primary()
        while self.sees("."):
            place = self.operator()
            value = ast.Member(place, value, self.name("a field").text)
        return value

    def primary(self) -> ast.Expr:
        if self.now.kind == "name":
            return self.name_or_call()
        if self.skip("("):
            inner = self.sum()
            self.expect(")", "after the expression in parentheses")
            return inner
        return self.constant("an expression")

    def name_or_call(self) -> ast.Name | ast.Call:
        name = self.take()
        if name.text == "print":
            raise ToyError("print is a statement: it has no value", name.place)
        if not self.skip("("):
            return ast.Name(name.place, name.text)
        if self.skip(")"):
            return ast.Call(name.place, name.text, ())
        arguments = self.several(self.sum, ")", "after an argument")
        return ast.Call(name.place, name.text, arguments)

    # ── constants ──

    def constant(self, expected: str = "a number, '[' or '{'") -> ast.Constant:
        place = self.now.place
        if self.skip("{"):
            with self.deeper():
                items = self.several(self.constant, "}", "after the value of a field")
            return ast.StructLiteral(place, items)
        return self.array(expected)

    def array(self, expected: str = "a number or '['") -> ast.Number | ast.Literal:
        token = self.now
        if token.kind == "number":
            return ast.Number(self.take().place, float(token.text))
        if not self.skip("["):
            raise self.wrong(expected)
        with self.deeper():
            items = self.several(self.array, "]", "after an element")
        shapes = [ast.shape_of(item) for item in items]
        for item, shape in zip(items, shapes, strict=True):
            if shape != shapes[0]:
                what = f"the elements of an array have one shape, here {ast.angled(shapes[0])}"
                raise ToyError(f"{what} and {ast.angled(shape)}", item.place)
        return ast.Literal(token.place, (len(items), *shapes[0]), items)
