"""Programs of tinygrad's primitive operations as text: what they compute, and how many kernels.

    a = reshape x 1,4          movement: reshape, permute, expand, flip, pad, shrink
    b = mul a y                elementwise; sizes of 1 are repeated, and an operand may be a number
    c = sum b 1                a reduction; the axis is gone

`result` is the meaning, by numpy; `kernels` asks tinygrad's own scheduler, and runs nothing. A text
may come from anybody, so its size is limited. Next room: rows.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

LINES, ELEMENTS, TOTAL, AXES = 1000, 1 << 18, 1 << 22, 6
BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "lt": np.less,
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "reciprocal": np.reciprocal, "exp2": np.exp2, "log2": np.log2,
}  # fmt: skip
OPERANDS = {**dict.fromkeys(BINARY, 2), **dict.fromkeys(UNARY, 1), "where": 3}
MOVEMENT = ("reshape", "permute", "expand", "flip", "pad", "shrink")
REDUCE = ("sum", "largest")
NAME = re.compile(r"[A-Za-z_]\w{0,30}")
NUMBER = re.compile(r"-?\d{1,9}(\.\d{1,24})?(e[-+]?\d{1,2})?")
WHOLE = re.compile(r"-?\d{1,6}")
PAIR = re.compile(r"(\d{1,6}):(\d{1,6})")


@dataclass(frozen=True)
class Step:
    """One line: its name, its operation, what it reads (names or numbers), and its sizes."""

    name: str
    op: str
    operands: tuple[str | float, ...]
    sizes: tuple[Any, ...] = ()
    text: str = ""


def parsed(text: str) -> list[Step]:
    """The lines of a program. ValueError names the line that is none."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not 0 < len(lines) <= LINES:
        raise ValueError(f"a program has 1 to {LINES:,} lines, this one has {len(lines):,}")
    return [_step(line) for line in lines]


def _step(line: str) -> Step:
    name, equals, rest = (part.strip() for part in line.partition("="))
    op, *words = rest.split()[:6] or [""]
    if not equals or not NAME.fullmatch(name):
        raise ValueError(f"a line is `name = operation operands`, and this is not: {line[:80]!r}")
    if op in MOVEMENT or op in REDUCE:
        if len(words) != 2:
            raise ValueError(f"{op} takes a name, and sizes or axes without spaces between them "
                             f"(4,1,3): {line[:80]!r}")  # fmt: skip
        return Step(name, op, (_operand(words[0], line),), _sizes(op, words[1], line), line)
    if op not in OPERANDS:
        known = ", ".join((*MOVEMENT, *OPERANDS, *REDUCE))
        raise ValueError(f"there is no operation {op[:20]!r}; the operations are {known}")
    if len(words) != OPERANDS[op]:
        raise ValueError(f"{op} takes {OPERANDS[op]} operands: {line[:80]!r}")
    return Step(name, op, tuple(_operand(word, line) for word in words), (), line)


def _operand(word: str, line: str) -> str | float:
    if NUMBER.fullmatch(word):
        return float(word)
    if NAME.fullmatch(word):
        return word
    raise ValueError(f"{word[:30]!r} is neither a name nor a number: {line[:80]!r}")


def _sizes(op: str, word: str, line: str) -> tuple[Any, ...]:
    parts = word.split(",")
    if op in ("pad", "shrink"):
        pairs = [PAIR.fullmatch(part) for part in parts]
        if None in pairs:
            raise ValueError(f"{op} takes a pair a:b for each axis: {line[:80]!r}")
        return tuple((int(pair[1]), int(pair[2])) for pair in pairs if pair)
    if not all(WHOLE.fullmatch(part) for part in parts):
        raise ValueError(f"{op} takes whole numbers with commas between them: {line[:80]!r}")
    return tuple(map(int, parts))


# ── what they compute ──


def values(text: str, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The value of every line, by name. ValueError names a line that does not fit."""
    known: dict[str, np.ndarray] = {name: np.asarray(x) for name, x in given.items()}
    total = 0
    for step in parsed(text):
        if step.name in known:
            raise ValueError(f"{step.name} has a value already: {step.text[:80]!r}")
        for name in step.operands:
            if isinstance(name, str) and name not in known:
                raise ValueError(f"nothing above is called {name}: {step.text[:80]!r}")
        operands = [known[x] if isinstance(x, str) else np.float64(x) for x in step.operands]
        try:
            with np.errstate(all="ignore"):
                known[step.name] = _value(step, operands)
        except (ValueError, IndexError) as error:
            shapes = " and ".join(str(np.shape(x)) for x in operands)
            raise ValueError(f"{step.text[:80]!r} does not fit {shapes}: {error}") from None
        total += known[step.name].size
        if total > TOTAL:
            raise ValueError(f"all lines together make more than {TOTAL:,} numbers")
    return known


def result(text: str, **given: np.ndarray) -> np.ndarray:
    """The value of the last line."""
    return values(text, given)[parsed(text)[-1].name]


def _value(step: Step, operands: Sequence[Any]) -> np.ndarray:
    if step.op in BINARY or step.op in UNARY or step.op == "where":
        shape = np.broadcast_shapes(*(np.shape(x) for x in operands))
        _small(shape)
        if step.op == "where":
            return np.where(operands[0] != 0, operands[1], operands[2])
        return np.asarray((BINARY | UNARY)[step.op](*operands))
    return _moved(step, operands[0])


def _small(shape: Sequence[int]) -> None:
    if any(size < 1 for size in shape):
        raise ValueError(f"each size is at least 1, got {tuple(shape)}")
    if len(shape) > AXES or prod(shape) > ELEMENTS:
        raise ValueError(f"at most {AXES} axes and {ELEMENTS:,} numbers, got {tuple(shape)}")


def _moved(step: Step, x: np.ndarray) -> np.ndarray:
    op, sizes = step.op, step.sizes
    if op in REDUCE or op == "flip":
        if not all(0 <= axis < x.ndim for axis in sizes) or len(set(sizes)) < len(sizes):
            raise ValueError(f"the axes are 0 to {x.ndim - 1}")
        if op == "flip":
            return np.flip(x, sizes)
        return (np.sum if op == "sum" else np.max)(x, axis=sizes)
    if op == "permute":
        return np.transpose(x, sizes)
    if op == "reshape":
        _small(sizes)
        return x.reshape(sizes)
    if len(sizes) != x.ndim:
        raise ValueError(f"{op} takes something for each of the {x.ndim} axes")
    if op == "expand":
        _small(sizes)
        return np.broadcast_to(x, sizes)
    if op == "pad":
        _small([n + a + b for n, (a, b) in zip(x.shape, sizes, strict=True)])
        return np.pad(x, sizes)
    if any(not a < b <= n for n, (a, b) in zip(x.shape, sizes, strict=True)):
        raise ValueError("each pair is begin:end, within the axis")
    return x[tuple(slice(a, b) for a, b in sizes)]


def work(text: str, given: Mapping[str, np.ndarray]) -> int:
    """How many numbers the reductions read together."""
    known = values(text, given)
    steps = [step for step in parsed(text) if step.op in REDUCE]
    return sum(known[str(step.operands[0])].size for step in steps)


# ── in tinygrad ──


def tensor(text: str, **given: Any) -> Any:
    """The same program as a tensor of tinygrad, from tensors of it."""
    known: dict[str, Any] = dict(given)
    for step in parsed(text):
        operands = [known[x] if isinstance(x, str) else x for x in step.operands]
        known[step.name] = _in_tinygrad(step, operands)
    return known[parsed(text)[-1].name]


def _in_tinygrad(step: Step, operands: Sequence[Any]) -> Any:
    from tinygrad.tensor import Tensor

    first = operands[0] if isinstance(operands[0], Tensor) else Tensor(operands[0])
    if step.op in MOVEMENT or step.op in REDUCE:
        return getattr(first, "max" if step.op == "largest" else step.op)(step.sizes)
    if step.op == "where":
        return (first != 0).where(*operands[1:])
    name = {"max": "maximum", "lt": "__lt__"}.get(step.op, step.op)
    return getattr(first, name)(*operands[1:])


def kernels(text: str, **shapes: tuple[int, ...]) -> int:
    """How many kernels tinygrad's scheduler makes of a program on float32 tensors."""
    return len(stores(text, **shapes))


def stores(text: str, **shapes: tuple[int, ...]) -> list[int]:
    """How many numbers each of these kernels stores."""
    from course_lib.plugins.tinygrad.jit import llvm_device  # tinygrad need not be installed
    from course_lib.plugins.tinygrad.session import session

    with session(device := llvm_device()):
        from tinygrad.tensor import Tensor

        given = {name: Tensor.empty(*shape, device=device) for name, shape in shapes.items()}
        schedule = tensor(text, **given).contiguous().schedule_linear()
        return [_stored_by(call) for call in schedule.src if call.src[0].op.name == "SINK"]


def _stored_by(call: Any) -> int:
    """The numbers in a call's first buffer, which is the one that it writes."""
    return call.src[1].max_numel()
