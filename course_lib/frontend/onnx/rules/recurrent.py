"""ONNX rules for recurrent layers: unrolled, one copy of the cell for each time step.

    LSTM(%x: f32[3,n,d], ...)   ->   three times: matmul, add, split into gates, sigmoid, tanh, mul

The number of steps is a size of the input, so it is known at compile time.
Next: `control.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from course_lib.frontend import blocks
from course_lib.frontend.onnx.table import translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import i64

ACTIVATIONS: dict[str, Callable[[Node], Node]] = {
    "Sigmoid": b.sigmoid,
    "Tanh": b.tanh,
    "Relu": b.relu,
}
Cell = Callable[[Node, list[Node]], list[Node]]  # (input of one step, states) -> new states


@translates("LSTM")
def lstm(x: Node, w: Node, r: Node, bias: Node | None = None, lengths: Node | None = None,
         initial_h: Node | None = None, initial_c: Node | None = None, peephole: Node | None = None,
         *, hidden_size: int, direction: str = "forward", layout: int = 0, input_forget: int = 0,
         activations: Sequence[str] = ("Sigmoid", "Tanh", "Tanh")) -> list[Node]:  # fmt: skip
    if input_forget:
        raise ValueError("coupled input and forget gates are not supported")
    weights = [w, r, bias, peephole]
    return _layer(_lstm_cell, x, weights, lengths, [initial_h, initial_c], hidden_size,
                  direction, layout, activations, 3)  # fmt: skip


@translates("GRU")
def gru(x: Node, w: Node, r: Node, bias: Node | None = None, lengths: Node | None = None,
        initial_h: Node | None = None, *, hidden_size: int, direction: str = "forward",
        layout: int = 0, linear_before_reset: int = 0,
        activations: Sequence[str] = ("Sigmoid", "Tanh")) -> list[Node]:  # fmt: skip
    cell = partial(_gru_cell, reset_last=bool(linear_before_reset))
    return _layer(cell, x, [w, r, bias], lengths, [initial_h], hidden_size,
                  direction, layout, activations, 2)  # fmt: skip


@translates("RNN")
def rnn(x: Node, w: Node, r: Node, bias: Node | None = None, lengths: Node | None = None,
        initial_h: Node | None = None, *, hidden_size: int, direction: str = "forward",
        layout: int = 0, activations: Sequence[str] = ("Tanh",)) -> list[Node]:  # fmt: skip
    return _layer(_rnn_cell, x, [w, r, bias], lengths, [initial_h], hidden_size,
                  direction, layout, activations, 1)  # fmt: skip


# ── cells ──


def _halves(bias: Node | None) -> list[Node | None]:
    """The bias of the input's product and that of the state's product."""
    return (
        [None, None] if bias is None else list(blocks.split(bias, 0, [bias.type.dims[0] // 2] * 2))
    )


def _linear(x: Node, w: Node, bias: Node | None) -> Node:
    y = b.matmul(x, b.transpose(w, (1, 0)))
    return y if bias is None else b.add(y, bias)


def _gates(x: Node, count: int) -> list[Node]:
    return blocks.split(x, 1, [x.type.dims[1] // count] * count)


def _lstm_cell(w: Node, r: Node, bias: Node | None, peephole: Node | None, functions: Any) -> Cell:
    """i, o, f = f(...); c' = f * c + i * g(...); h' = o * h(c'). Peepholes let gates see c."""
    f, g, h = functions
    of_input, of_state = _halves(bias)
    seen = blocks.split(peephole, 0, [peephole.type.dims[0] // 3] * 3) if peephole else [None] * 3

    def cell(x: Node, states: list[Node]) -> list[Node]:
        hidden, c = states
        i, o, forget, new = _gates(b.add(_linear(x, w, of_input), _linear(hidden, r, of_state)), 4)
        look = lambda gate, p, c: gate if p is None else b.add(gate, b.mul(p, c))  # noqa: E731
        i, forget = f(look(i, seen[0], c)), f(look(forget, seen[2], c))
        c = b.add(b.mul(forget, c), b.mul(i, g(new)))
        return [b.mul(f(look(o, seen[1], c)), h(c)), c]

    return cell


def _gru_cell(w: Node, r: Node, bias: Node | None, functions: Any, reset_last: bool) -> Cell:
    """z, r = f(...); n = g(x + r * state); h' = (1 - z) * n + z * h."""
    f, g = functions
    of_input, of_state = _halves(bias)

    def cell(x: Node, states: list[Node]) -> list[Node]:
        (hidden,) = states
        zx, rx, nx = _gates(_linear(x, w, of_input), 3)
        zh, rh, nh = _gates(_linear(hidden, r, of_state), 3)
        z, reset = f(b.add(zx, zh)), f(b.add(rx, rh))
        if reset_last:
            new = g(b.add(nx, b.mul(reset, nh)))
        else:
            size = r.type.dims[1]
            rows = blocks.cut(r, 0, 2 * size, 3 * size)
            shift = None if of_state is None else blocks.cut(of_state, 0, 2 * size, 3 * size)
            new = g(b.add(nx, _linear(b.mul(reset, hidden), rows, shift)))
        return [b.add(b.mul(b.sub(1.0, z), new), b.mul(z, hidden))]

    return cell


def _rnn_cell(w: Node, r: Node, bias: Node | None, functions: Any) -> Cell:
    (f,) = functions
    of_input, of_state = _halves(bias)
    return lambda x, states: [f(b.add(_linear(x, w, of_input), _linear(states[0], r, of_state)))]


# ── what the three layers share ──


def _layer(make_cell: Callable[..., Cell], x: Node, weights: list[Node | None],
           lengths: Node | None, initial: list[Node | None], hidden: int, direction: str,
           layout: int, activations: Sequence[str], per_cell: int) -> list[Node]:  # fmt: skip
    """Run each direction; results are all hidden states, then the last of each state."""
    names = [a.decode() if isinstance(a, bytes) else a for a in activations]
    unknown = [n for n in names if n not in ACTIVATIONS]
    if unknown:
        raise ValueError(f"the activation {unknown[0]} is not supported")
    x = b.transpose(x, (1, 0, 2)) if layout else x
    lengths = None if lengths is None else as_type(lengths, i64)
    count = 2 if direction == "bidirectional" else 1
    functions = [ACTIVATIONS[n] for n in names] * (count * per_cell // len(names))
    states = [_initial(s, layout, (count, x.type.dims[1], hidden), x) for s in initial]
    sequences, finals = [], []
    for d in range(count):
        parts = [None if v is None else blocks.item(v, 0, d) for v in weights]
        cell = make_cell(*parts, functions[d * per_cell : (d + 1) * per_cell])
        backwards = direction == "reverse" or d == 1
        outputs, last = _unrolled(
            cell, x, [blocks.item(s, 0, d) for s in states], lengths, backwards
        )
        sequences.append(blocks.stack(outputs, 0))
        finals.append(last)
    y = blocks.stack(sequences, 1)  # [time, direction, batch, hidden]
    last = [blocks.stack([final[k] for final in finals], 0) for k in range(len(initial))]
    if layout:
        y, last = b.transpose(y, (2, 0, 1, 3)), [b.transpose(s, (1, 0, 2)) for s in last]
    return [y, *last]


def _unrolled(cell: Cell, x: Node, states: list[Node], lengths: Node | None, backwards: bool):
    """The first state after each step, in order of time, and all states after the last one.

    Rows of the batch that are shorter than the sequence keep their states and give zeros.
    """
    steps = range(x.type.dims[0])
    outputs: dict[int, Node] = {}
    for t in reversed(steps) if backwards else steps:
        new = cell(blocks.item(x, 0, t), states)
        if lengths is None:
            outputs[t], states = new[0], new
            continue
        runs = b.reshape(apply("gt", lengths, t), (-1, 1))
        outputs[t] = b.select(runs, new[0], b.const(0, x.type.dtype))
        states = [b.select(runs, n, old) for n, old in zip(new, states, strict=True)]
    return [outputs[t] for t in steps], states


def _initial(state: Node | None, layout: int, shape: tuple[int, ...], like: Node) -> Node:
    if state is None:
        return b.expand(b.const(0, like.type.dtype), shape)
    return b.transpose(state, (1, 0, 2)) if layout else state
