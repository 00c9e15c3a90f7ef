"""tinygrad's graphs as statements: Python that builds its UOps, and a schedule of kernels.

    c17 = UOp(Ops.PERMUTE, dtypes.float, ((a*b),), (4, 0, 1, 2, 3))._rop(Ops.ADD, (0,))
    r_8_4(b31+512: 8 float, b31: 32 float)          a kernel, and the buffers that it is given

A line of a graph holds many operations, and each of them is a statement. tinygrad knows no product
and no convolution: a sum of the products of two values is one. In a graph of tensors, a convolution
lays its operands out along six axes or more, a product along five at most; in a kernel there are
loops alone, so a sum of products there may be either. What a buffer holds is written above the
graph of tensors (`peers/tinygrad.py`). Next room: `inductor.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.statement import Statement, fixed

BUFFER = re.compile(r"^# b(\d+) is (an input, )?(.*)$", re.M)
LINE = re.compile(r"^(\w+) = (.*)$")
LAUNCH = re.compile(r"^(\w+)\((.*)\)$")
GIVEN = re.compile(r"(b(\d+)(?:\+\d+)?): ")
AXES = 6  # of a convolution of images of one dimension: n, groups, filters, x, channels, the filter
SIGNS = {ast.Add: "add", ast.Mult: "mul", ast.Sub: "sub", ast.Div: "div", ast.Lt: "cmplt",
         ast.NotEq: "cmpne"}  # fmt: skip
PASSED_ON = {
    "reshape", "permute", "expand", "shrink", "pad", "flip", "index", "load", "end", "sink",
    "after", "contiguous", "detach", "rtag", "group",
}  # fmt: skip
NO_VALUE = {"stack", "range", "special", "const"}  # sizes, loops, numbers
SUM_OF_PRODUCTS = frozenset({"matmul", "conv"})
Values = dict[str, Statement]


def read_tensors(text: str) -> list[Statement]:
    """The statements of a graph of tensors."""
    return _Graph(text, {f"b{slot}": value for slot, value in _buffers(text).items()}).statements()


def read_schedule(text: str, others: Mapping[str, str]) -> list[Statement]:
    """Those of each kernel's graph, which is another stage, where the kernel is launched."""
    known = _buffers(others.get("tensors", ""))
    values: Values = {}
    done: list[Statement] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (found := LAUNCH.match(line)):
            continue
        name, buffers = found[1], GIVEN.findall(found[2])
        launch = Statement(number, number, name, kinds(name), calls=name)
        given = {f"p{k}": values.get(place) or known.get(slot) or _plain("buffer")
                 for k, (place, slot) in enumerate(buffers)}  # fmt: skip
        launch.operands = [given[f"p{k}"] for k in range(1, len(buffers))]
        inside = _Graph(others.get(f"{name}: AST", ""), given, launch).statements()
        launch.inside = inside
        done += inside or [launch]
        if buffers:
            values[buffers[0][0]] = inside[-1] if inside else launch
    return done


def _buffers(text: str) -> dict[str, Statement]:
    """Inputs, and weights, which are constants, by number."""
    return {slot: Statement(0, 0, "input", frozenset({"other"})) if of_input else _plain("buffer")
            for slot, of_input, _ in BUFFER.findall(text)}  # fmt: skip


def _plain(word: str) -> Statement:
    return Statement(0, 0, word, frozenset({"constant"}))


class _Graph:
    """A graph as text; `given`: what its buffers and parameters hold; `launch`: the kernel that
    it is, whose line is then that of every statement."""

    def __init__(self, text: str, given: Values, launch: Statement | None = None) -> None:
        found = [(k, LINE.match(line)) for k, line in enumerate(text.splitlines(), 1)]
        self.lines = {m[1]: (k, ast.parse(m[2], mode="eval").body) for k, m in found if m}
        self.given, self.launch = given, launch
        self.values: Values = {}
        self.done: list[Statement] = []

    def statements(self) -> list[Statement]:
        """Those that the result needs, each after what it reads."""
        if "ast" not in self.lines:
            return []
        for name in self.lines:  # in order, so none is deep
            self._named(name)
        needed, todo = set(), [self._named("ast")]
        while todo:
            if (one := todo.pop()) not in needed:
                needed.add(one)
                todo += one.reads
        return [one for one in self.done if one in needed]

    def _named(self, name: str) -> Statement:
        if name not in self.lines:
            return _plain("const")
        if name not in self.values:
            number, node = self.lines[name]
            self.values[name] = self._of(node, number)
        return self.values[name]

    def _of(self, node: ast.expr, number: int) -> Statement:
        """What an expression of this line yields."""
        match node:
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(left=left, op=op, right=right):
                return self._made(SIGNS.get(type(op), "other"), number, left, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._made(SIGNS.get(type(op), "other"), number, left, right)
            case ast.Call(func=ast.Name(id="UOp"), args=[ast.Attribute(attr=op), _, *more]):
                return self._uop(op.lower(), number, more)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="UOp"), attr=word), args=args):
                return self._source(word, args)
            case ast.Call(func=ast.Attribute(value=value, attr=word), args=args):
                return self._method(word, number, value, args, node.keywords)
        return _plain("const")

    def _source(self, word: str, args: list[ast.expr]) -> Statement:
        """A buffer of the model, or a number."""
        slot = f"b{ast.literal_eval(args[-1])}" if word == "new_buffer" else ""
        return self.given.get(slot) or _plain("buffer" if slot else "const")

    def _uop(self, op: str, number: int, more: list[ast.expr]) -> Statement:
        sources = more[0].elts if more and isinstance(more[0], ast.Tuple) else []
        if op == "param" and isinstance(more[-1], ast.Call):  # its address, and then its number
            slot = f"p{ast.literal_eval(more[-1].args[0])}"
            return self.given.get(slot) or _plain("buffer")
        if op in NO_VALUE or not sources:
            return _plain("const")
        if op in PASSED_ON:
            return self._of(sources[0], number)
        return self._made(op, number, *sources)

    def _method(self, word: str, number: int, value: ast.expr, args: list[ast.expr],
                keywords: list[ast.keyword]) -> Statement:  # fmt: skip
        if word in ("_rop", "reduce"):
            said = args[0] if word == "_rop" else keywords[0].value
            op = said.elts[0] if isinstance(said, ast.Tuple) else said
            return self._reduced(getattr(op, "attr", "").lower(), number, value)
        if word == "store":
            return self._of(args[0], number)
        if word == "alu":
            return self._made(getattr(args[0], "attr", "other").lower(), number, value, *args[1:])
        if word in PASSED_ON:
            return self._of(value, number)
        return self._made(word, number, value)

    def _reduced(self, op: str, number: int, value: ast.expr) -> Statement:
        """A sum or a maximum along axes; a sum of products, where it is one."""
        at, node, axes = self._behind(value, number)
        factors = []
        if op == "add" and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            factors = [self._of(node.left, at), self._of(node.right, at)]
        if len(set(factors)) < 2 or any(one.word == "const" for one in factors):
            made = self._made("sum" if op == "add" else f"reduce_{op}", number, value)
            made.kinds = frozenset({"reduce_sum" if op == "add" else f"reduce_{op}"})
            return made
        made = self._made("sum of products", number)
        made.operands = [*factors]
        made.also = () if self.launch else (at,)
        in_loops = self.launch is not None
        made.kinds = (
            SUM_OF_PRODUCTS if in_loops else frozenset({"conv" if axes >= AXES else "matmul"})
        )
        return made

    def _behind(self, node: ast.expr, number: int) -> tuple[int, ast.expr, int]:
        """What was laid out anew and given a name: its line, itself, and along how many axes."""
        axes = 0
        while True:
            match node:
                case ast.Name(id=name) if name in self.lines:
                    number, node = self.lines[name]
                case ast.Call(
                    args=[ast.Attribute(attr="PERMUTE"), _, ast.Tuple(elts=[inner]), order]
                ):
                    node, axes = inner, len(getattr(order, "elts", ()))
                case ast.Call(func=ast.Attribute(value=inner, attr="cast")):
                    node = inner
                case ast.Call(func=ast.Attribute(value=mask, attr="alu"),
                              args=[ast.Attribute(attr="WHERE"), inner, _]) if fixed(
                                  self._of(mask, number)):  # fmt: skip
                    node = inner
                case _:
                    return number, node, axes

    def _made(self, word: str, number: int, *sources: ast.expr) -> Statement:
        """A statement of what these yield. Where a mask of loops chooses between a value and a
        number, as at the border of an image, it is that value."""
        operands = [self._of(one, number) for one in sources]
        if word == "where" and fixed(operands[0]):
            chosen = [one for one in operands[1:] if not fixed(one)] or operands[1:]
            if len(chosen) == 1:
                return chosen[0]
        at = self.launch.first if self.launch else number
        made = Statement(at, at, word, kinds(word), outer=self.launch)
        made.operands = [*operands]
        chosen_by = [one for one in operands[:1] if word == "where" and "cmp" in one.word]
        if any(set(one.reads) & set(operands[1:]) for one in chosen_by):
            made.kinds = frozenset({"max"})  # the greater one, or the smaller one
        self.done.append(made)
        return made
