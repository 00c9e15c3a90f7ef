"""The abstract syntax tree of a Toy program (chapter 1), and how it is printed.

    var c = a * transpose(b);     ->     Declare c @3:3
                                           Binary * @3:13
                                             Name a @3:11
                                             Call transpose @3:15
                                               Name b @3:25

Every node knows its place. Next room: `parser.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.mlir.toy.source import Place

Shape = tuple[int, ...]
LARGEST = 100_000  # elements of an array: constants stand in the program, down to LLVM IR


@dataclass(frozen=True)
class Number:
    place: Place
    value: float


@dataclass(frozen=True)
class Literal:
    """[1, 2, 3]: an array. `items` are numbers, or literals of one shape."""

    place: Place
    shape: Shape
    items: tuple[Number | Literal, ...]


@dataclass(frozen=True)
class StructLiteral:
    """{a, b}: a value for each field. Values are numbers, arrays or struct literals."""

    place: Place
    items: tuple[Constant, ...]


Constant = Number | Literal | StructLiteral


@dataclass(frozen=True)
class Name:
    place: Place
    name: str


@dataclass(frozen=True)
class Binary:
    """`op` is + or *, element by element."""

    place: Place
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Member:
    """value.field"""

    place: Place
    value: Expr
    field: str


@dataclass(frozen=True)
class Call:
    """A function of the program, or `transpose`."""

    place: Place
    function: str
    arguments: tuple[Expr, ...]


Expr = Constant | Name | Binary | Member | Call


@dataclass(frozen=True)
class Declare:
    """var name<shape> = value;  or  Struct name = value;  no shape: that of the value."""

    place: Place
    name: str
    shape: Shape | None
    struct: str | None
    value: Expr


@dataclass(frozen=True)
class Return:
    place: Place
    value: Expr | None


@dataclass(frozen=True)
class Print:
    place: Place
    value: Expr


Statement = Declare | Return | Print | Expr


@dataclass(frozen=True)
class Param:
    """A parameter or a field. No `struct`: an array of any shape."""

    place: Place
    name: str
    struct: str | None


@dataclass(frozen=True)
class Function:
    place: Place
    name: str
    params: tuple[Param, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Struct:
    place: Place
    name: str
    fields: tuple[Param, ...]


@dataclass(frozen=True)
class Module:
    """Functions and structs in the order of the text."""

    records: tuple[Function | Struct, ...]


Node = Module | Function | Struct | Param | Statement


def numbers(literal: Number | Literal) -> list[float]:
    """The values of an array in row-major order."""
    if isinstance(literal, Number):
        return [literal.value]
    return [value for item in literal.items for value in numbers(item)]


def shape_of(literal: Number | Literal) -> Shape:
    return literal.shape if isinstance(literal, Literal) else ()


def show(node: Node, depth: int = 0) -> str:
    """The tree as text, a node in a line, two spaces deeper than its parent."""
    return "\n".join(_lines(node, depth))


def _lines(node: Node, depth: int) -> Iterator[str]:
    if not isinstance(node, Module):
        head = " ".join(word for word in (type(node).__name__, _label(node)) if word)
        yield f"{'  ' * depth}{head} @{node.place.line}:{node.place.column}"
        depth += 1
    for child in _children(node):
        yield from _lines(child, depth)


def _label(node: Node) -> str:
    match node:
        case Number(value=value):
            return f"{value:g}"
        case Literal(shape=shape):
            return f"{angled(shape)} [{', '.join(f'{value:g}' for value in numbers(node))}]"
        case Declare(name=name, shape=shape, struct=struct):
            return f"{struct} {name}" if struct else name + (angled(shape) if shape else "")
        case Param(name=name, struct=struct):
            return f"{struct} {name}" if struct else name
        case Name(name=name) | Function(name=name) | Struct(name=name):
            return name
        case Binary(op=op):
            return op
        case Member(field=field):
            return f".{field}"
        case Call(function=function):
            return function
    return ""


def angled(shape: Shape) -> str:
    """A shape as Toy writes it, <2, 3>; of rank 0 in words."""
    return f"<{', '.join(map(str, shape))}>" if shape else "a number"


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Module(records=records):
            return records
        case Function(params=params, body=body):
            return (*params, *body)
        case Struct(fields=fields):
            return fields
        case StructLiteral(items=items):
            return items
        case Binary(left=left, right=right):
            return left, right
        case Call(arguments=arguments):
            return arguments
        case Declare(value=value) | Print(value=value) | Member(value=value):
            return (value,)
        case Return(value=value) if value:
            return (value,)
    return ()
