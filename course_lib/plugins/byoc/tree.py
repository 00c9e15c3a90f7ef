"""Relax's tree in small: modules of functions, functions of bindings, calls of ops.

    main(x):  lv = matmul(x, w);  lv1 = nn.relu(lv);  return lv1
    ==>  Function((x,), SeqExpr((DataflowBlock((VarBinding(lv, RelaxCall(...)), ...)),), lv1), ...)

The fields have TVM's names. Names of variables are unique in a module here. Next room: `dpl.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class TensorType:
    """What is known of a tensor."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class TupleType:
    fields: tuple[TensorType, ...]


@dataclass(frozen=True, eq=False)
class Tensor:
    """Numbers: of a constant, or those that a compiled model is called with."""

    array: np.ndarray

    def numpy(self) -> np.ndarray:
        return self.array.copy()

    def copyfrom(self, values: np.ndarray) -> Tensor:
        """Overwrite it; ValueError unless shape and element type are the same."""
        values = np.asarray(values)
        if (values.shape, values.dtype) != (self.array.shape, self.array.dtype):
            want = f"{self.array.dtype}{list(self.array.shape)}"
            raise ValueError(f"{want} is expected, got {values.dtype}{list(values.shape)}")
        self.array[...] = values
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return self.array.dtype.name


class Expression:
    """What TVM's expressions share."""

    def same_as(self, other: object) -> bool:
        """Is it this very expression? A variable is its name."""
        return self is other or (isinstance(self, Var) and self == other)


@dataclass(frozen=True)
class Op(Expression):
    name: str


@dataclass(frozen=True)
class GlobalVar:
    name_hint: str


@dataclass(frozen=True)
class ExternFunc:
    global_symbol: str


@dataclass(frozen=True)
class Var(Expression):
    name: str
    ty: TensorType | TupleType


@dataclass(frozen=True, eq=False)
class GenericConst(Expression):
    value: Tensor

    @property
    def ty(self) -> TensorType:
        return TensorType(self.value.shape, self.value.dtype)


Attribute = str | int | tuple[int, ...]


@dataclass(frozen=True)
class Attrs:
    """Attributes of a call (`attrs.axis`) or of a function (`attrs["Composite"]`)."""

    pairs: tuple[tuple[str, str | int | tuple[int, ...]], ...] = ()

    def __getitem__(self, key: str) -> Attribute:
        return dict(self.pairs)[key]

    def __getattr__(self, key: str) -> Attribute:
        if key.startswith("__") or key not in dict(self.pairs):
            raise AttributeError(key)
        return dict(self.pairs)[key]

    def __contains__(self, key: str) -> bool:
        return key in dict(self.pairs)

    def get(self, key: str, default: Attribute | None = None) -> Attribute | None:
        return dict(self.pairs).get(key, default)


@dataclass(frozen=True, eq=False)
class RelaxCall(Expression):
    """`op` is an op of Relax, or the function that is called."""

    op: Op | Var | GlobalVar | ExternFunc
    args: tuple[Var | GenericConst, ...]
    attrs: Attrs
    ty: TensorType | TupleType


@dataclass(frozen=True, eq=False)
class Tuple(Expression):
    fields: tuple[Var, ...]


@dataclass(frozen=True, eq=False)
class TupleGetItem:
    tuple_value: Var
    index: int

    @property
    def ty(self) -> TensorType:
        assert isinstance(self.tuple_value.ty, TupleType)
        return self.tuple_value.ty.fields[self.index]


@dataclass(frozen=True, eq=False)
class VarBinding:
    var: Var
    value: RelaxCall | TupleGetItem | Function


@dataclass(frozen=True, eq=False)
class DataflowBlock:
    bindings: tuple[VarBinding, ...]


@dataclass(frozen=True, eq=False)
class SeqExpr:
    blocks: tuple[DataflowBlock, ...]
    body: Var | Tuple


@dataclass(frozen=True, eq=False)
class Function:
    params: tuple[Var, ...]
    body: SeqExpr
    attrs: Attrs = field(default_factory=Attrs)

    @property
    def bindings(self) -> list[VarBinding]:
        return [binding for block in self.body.blocks for binding in block.bindings]

    @property
    def results(self) -> tuple[Var, ...]:
        body = self.body.body
        return body.fields if isinstance(body, Tuple) else (body,)


@dataclass(frozen=True, eq=False)
class IRModule:
    """Functions by name; `main` is the model."""

    parts: tuple[tuple[str, Function], ...]

    @property
    def functions(self) -> dict[GlobalVar, Function]:
        return {GlobalVar(name): function for name, function in self.parts}

    def __getitem__(self, name: str) -> Function:
        return dict(self.parts)[name]

    def with_main(self, main: Function, more: Iterable[tuple[str, Function]] = ()) -> IRModule:
        """Another `main`, and more functions; what nothing calls goes."""
        known = {**dict(self.parts), **dict(more), "main": main}
        calls = (b.value.op for b in main.bindings if isinstance(b.value, RelaxCall))
        called = {op.name_hint for op in calls if isinstance(op, GlobalVar)}
        return IRModule(tuple((n, f) for n, f in known.items() if n in called or n == "main"))

    def __str__(self) -> str:
        return "\n\n".join("\n".join(_lines(n, f)) for n, f in reversed(self.parts))


KINDS: tuple[type, ...] = (
    *(TensorType, TupleType, Tensor, Op, GlobalVar, ExternFunc, Var, GenericConst, Attrs),
    *(RelaxCall, Tuple, TupleGetItem, VarBinding, DataflowBlock, SeqExpr, Function, IRModule),
)


def function(
    params: Iterable[Var],
    bindings: Iterable[VarBinding],
    results: Iterable[Var],
    **attrs: Attribute,
) -> Function:
    """A function with one block, and a tuple of results unless there is one."""
    results = tuple(results)
    body: Var | Tuple = results[0] if len(results) == 1 else Tuple(results)
    block = DataflowBlock(tuple(bindings))
    return Function(tuple(params), SeqExpr((block,), body), Attrs(tuple(attrs.items())))


def reads(value: RelaxCall | TupleGetItem | Function) -> Iterator[Var]:
    """The variables that a value is computed from."""
    if isinstance(value, TupleGetItem):
        yield value.tuple_value
    elif isinstance(value, RelaxCall):
        yield from (arg for arg in value.args if isinstance(arg, Var))


def _lines(name: str, function: Function, indent: str = "") -> Iterator[str]:
    yield f"{indent}{name}({', '.join(f'{p.name}: {typed(p.ty)}' for p in function.params)})"
    for key, value in function.attrs.pairs:
        yield f"{indent}  # {key}: {value}"
    for binding in function.bindings:
        if isinstance(binding.value, Function):
            yield from _lines(binding.var.name, binding.value, indent + "  ")
        else:
            yield f"{indent}  {binding.var.name} = {_text(binding.value)}"
    yield f"{indent}  return {', '.join(result.name for result in function.results)}"


def _text(value: RelaxCall | TupleGetItem) -> str:
    if isinstance(value, TupleGetItem):
        return f"{value.tuple_value.name}[{value.index}]"
    op = value.op
    name = {Op: "name", Var: "name", GlobalVar: "name_hint", ExternFunc: "global_symbol"}[type(op)]
    operands = [arg.name if isinstance(arg, Var) else f"const {typed(arg.ty)}"
                for arg in value.args]  # fmt: skip
    attrs = [f"{key}={attribute}" for key, attribute in value.attrs.pairs]
    return f"{getattr(op, name).removeprefix('relax.')}({', '.join([*operands, *attrs])})"


def typed(type: TensorType | TupleType) -> str:
    """int8[2, 4], in short."""
    if isinstance(type, TupleType):
        return f"({', '.join(map(typed, type.fields))})"
    return f"{type.dtype}{list(type.shape)}"
