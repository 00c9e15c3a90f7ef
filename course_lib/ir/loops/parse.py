"""Reading the text form of level 2.

kernel := "kernel" "@" name "(" param ("," param)* ")" pack* ahead* [loc] "{" stmt* "}"
param  := name ":" type                    pack := "pack" "(" name "," int "," int ")"
ahead  := "prefetch" "(" name "," var "," var ")"
stmt   := "local" name ":" type
        | kind var "in" start ".." stop "{" stmt* "}"           kind: for, parallel, vector, unroll
start  := affine | "max" "(" affine ("," affine)* ")"            stop: the same, with "min"
        | name "[" index ("," index)* "]" ("=" | "+=" | "*=" | "max=" | "min=") expr
expr   := term (("+" | "-") term)*         term := factor (("*" | "/") factor)*
factor := literal | name "[" index* "]" | fn "(" expr* ")" | "cast" "(" expr "," dtype ")"
        | "index" "(" affine ")" | "(" expr ")"
index  := affine | expr                    affine: sums of numbers, variables, number * variable

Next room: `loop_interp.py`.
"""

from __future__ import annotations

import json
import re

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Call, Const, Expr, Iter, Load, call, literal
from course_lib.ir.loops.nest import (
    LOOP_KINDS,
    Accumulate,
    Buffer,
    Kernel,
    Local,
    Loop,
    Packing,
    Prefetched,
    Stmt,
    Store,
)
from course_lib.ir.loops.verify import verify_kernel as verify
from course_lib.ir.reader import Reader
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import DTYPES, DType, TensorType, bool_, f32, i64, parse_type

_TOKEN = re.compile(
    r"""\s+|//[^\n]*
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<type>(?:f16|f32|f64|[iu]8|[iu]16|[iu]32|[iu]64|bool)\[[^\]]*\](?:\{\w+\})?)
    |(?P<range>\.\.)
    |(?P<combine>[+*]=|(?:max|min)=)
    |(?P<number>(?:\d+\.(?!\.)\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+|inf\b|nan\b))
    |(?P<name>[A-Za-z_$][\w$.]*?(?=\.\.|[^\w$.]|$))
    |(?P<mark>[@(){}\[\],:=+\-*/])""",
    re.VERBOSE,
)
_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_COMBINE = {"+=": "add", "*=": "mul", "max=": "max", "min=": "min"}


@takes
def parse_kernel(text: str) -> Kernel:
    """The inverse of `print_kernel`. Raises ValueError with the line number."""
    return verify(_Reader(text).kernel())


class _Reader(Reader):
    """One method for each rule of the grammar. `scope` has the element type of each buffer."""

    tokens_of = _TOKEN

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.scope: dict[str, DType] = {}

    def kernel(self) -> Kernel:
        self.take("kernel")
        self.take("@")
        name = self.take("name")
        self.take("(")
        params: list[Buffer] = []
        while not self.accept(")"):
            if params:
                self.take(",")
            params.append(self.buffer())
        packed, ahead, origin = [], [], []
        while self.accept("pack"):
            self.take("(")
            param = self.take("name")
            self.take(",")
            axis = int(self.take("number"))
            self.take(",")
            packed.append(Packing(param, axis, int(self.take("number"))))
            self.take(")")
        while self.accept("prefetch"):
            self.take("(")
            param = self.take("name")
            self.take(",")
            loop = self.take("name")
            self.take(",")
            ahead.append(Prefetched(param, loop, self.take("name")))
            self.take(")")
        if self.accept("loc"):
            self.take("(")
            origin.append(json.loads(self.take("string")))
            while self.accept(","):
                origin.append(json.loads(self.take("string")))
            self.take(")")
        body = self.block()
        self.take("end")
        return Kernel(name, tuple(params), body, tuple(origin), tuple(packed), tuple(ahead))

    def buffer(self) -> Buffer:
        name = self.take("name")
        self.take(":")
        type: TensorType = parse_type(self.take("type"))
        self.scope[name] = type.dtype
        return Buffer(name, type)

    def block(self) -> tuple[Stmt, ...]:
        self.take("{")
        body: list[Stmt] = []
        while not self.accept("}"):
            body.append(self.stmt())
        return tuple(body)

    def stmt(self) -> Stmt:
        if self.peek() == "local" and self.peek(1) != "[":
            self.take()
            return Local(self.buffer())
        if self.peek() in LOOP_KINDS and self.peek(1) != "[":
            kind = self.take()
            var = self.take("name")
            self.take("in")
            start, *above = self.bounds("max")
            self.take("range")
            stop, *below = self.bounds("min")
            return Loop(var, start, stop, self.block(), kind, tuple(above), tuple(below))
        name = self.take("name")
        indices = self.indices()
        if self.peek() in _COMBINE:
            return Accumulate(name, indices, _COMBINE[self.take()], self.expr())
        self.take("=")
        return Store(name, indices, self.expr())

    def indices(self) -> tuple[Affine | Expr, ...]:
        self.take("[")
        indices: list[Affine | Expr] = []
        while not self.accept("]"):
            if indices:
                self.take(",")
            indices.append(self.index())
        return tuple(indices)

    def index(self) -> Affine | Expr:
        """Affine, unless it holds a call or a load: every computed index does."""
        at = self.at
        while self.tokens[at][1] not in (",", "]", "(", "[") and self.tokens[at][0] != "end":
            at += 1
        return self.expr() if self.tokens[at][1] in ("(", "[") else self.affine()

    def bounds(self, function: str) -> list[Affine]:
        """One end of a loop: a bound, or the `function` of several."""
        if self.peek() != function or self.peek(1) != "(":
            return [self.affine()]
        self.take(function)
        self.take("(")
        bounds = [self.affine()]
        while self.accept(","):
            bounds.append(self.affine())
        self.take(")")
        return bounds

    def affine(self) -> Affine:
        total = Affine()
        sign = -1 if self.accept("-") else 1
        while True:
            total = total + self.affine_term() * sign
            if self.accept("+"):
                sign = 1
            elif self.accept("-"):
                sign = -1
            else:
                return total

    def affine_term(self) -> Affine:
        if self.tokens[self.at][0] == "name":
            return Affine.var(self.take())
        sign = -1 if self.accept("-") else 1
        number = self.take("number")
        if not number.isdigit():
            raise self.error(f"an index must be a whole number, found {number}")
        if self.accept("*"):
            return Affine.var(self.take("name")) * (sign * int(number))
        return Affine((), sign * int(number))

    def expr(self) -> Expr:
        left = self.term()
        while self.peek() in ("+", "-"):
            left = call(_OPERATORS[self.take()], left, self.term())
        return left

    def term(self) -> Expr:
        left = self.factor()
        while self.peek() in ("*", "/"):
            left = call(_OPERATORS[self.take()], left, self.factor())
        return left

    def factor(self) -> Expr:
        kind, text, position = self.tokens[self.at]
        if kind == "number" or text == "-":
            return self.literal()
        if self.accept("("):
            inner = self.expr()
            self.take(")")
            return inner
        name = self.take("name")
        if name in ("true", "false"):
            return Const(name == "true", bool_)
        if self.peek() == "[":
            if name not in self.scope:
                raise self.error(f"{name} is not a parameter or a local", position)
            return Load(name, self.indices(), self.scope[name])
        self.take("(")
        if name == "index":
            affine = self.affine()
            self.take(")")
            return Iter(affine)
        args = [self.expr()]
        while self.accept(","):
            if name == "cast":
                dtype = DTYPES[self.take(*DTYPES)]
                self.take(")")
                return Call("cast", (args[0],), dtype)
            args.append(self.expr())
        self.take(")")
        if name != "select" and (name not in SCALARS or SCALARS[name].arity != len(args)):
            raise self.error(f"no scalar function {name} of {len(args)} arguments", position)
        return call(name, *args)

    def literal(self) -> Const:
        position = self.tokens[self.at][2]
        sign = "-" if self.accept("-") else ""
        text = sign + self.take("number")
        number = self.number(text)
        if self.accept(":"):
            dtype = DTYPES[self.take(*DTYPES)]
        else:
            dtype = i64 if re.fullmatch(r"-?\d+", text) else f32
        if not dtype.is_float and not text.lstrip("-").isdigit():
            raise self.error(f"{text} is not a whole number, as {dtype} needs", position)
        if not dtype.holds(number):
            raise self.error(f"{dtype} has no number {text}", position)
        return literal(float(text) if dtype.is_float else int(text), dtype)
