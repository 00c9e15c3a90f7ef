"""Recurrent layers for both importers: LSTM, GRU and RNN cells, and the loop around them.

    %0 = matmul(%x, %w) + %b                     for all steps at once: one large product
    %1 = scan(%h0, %0, %r) {body = ...}          from step to step: only what needs the state
    %2 = slice(%1)                               of [h, c], all h

A cell gets what its gates take from the input of one step, and the states. PyTorch and ONNX have
the gates in another order, so the order is a string of their letters. Next:
`blocks.py`, what else both importers are built of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_lib.frontend import blocks
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.graph.recurrence import Parts, final, first, scan

Function = Callable[[Node], Node]
Cell = Callable[[Node, list[Node]], list[Node]]  # (gates from the input, states) -> new states


@dataclass(frozen=True)
class Weights:
    """One direction of one layer with `g` gates, for inputs of width `d` and states of width `h`.

    of_input, of_state       [g * h, d] and [g * h, h]
    input_bias, state_bias   [g * h], or None
    """

    of_input: Node
    of_state: Node
    input_bias: Node | None = None
    state_bias: Node | None = None

    def one_bias(self) -> Weights:
        """The same sums with all that is constant in the input's product."""
        biases = [v for v in (self.input_bias, self.state_bias) if v is not None]
        total = b.add(*biases) if len(biases) == 2 else biases[0] if biases else None
        return Weights(self.of_input, self.of_state, total)

    def gates(self, x: Node) -> Node:
        """What all steps of x: [steps, n, d] give to the gates: [steps, n, g * h]."""
        steps, n, d = x.type.dims
        y = _linear(b.reshape(x, (steps * n, d)), self.of_input, self.input_bias)
        return b.reshape(y, (steps, n, y.type.dims[1]))


def _linear(x: Node, w: Node, bias: Node | None) -> Node:
    y = b.matmul(x, b.transpose(w, (1, 0)))
    return y if bias is None else b.add(y, bias)


def _split(x: Node, order: str, wanted: str) -> list[Node]:
    """The gates of x: [n, g * h] that have these letters."""
    parts = blocks.split(x, 1, [x.type.dims[1] // len(order)] * len(order))
    return [parts[order.index(letter)] for letter in wanted]


# ── cells ──


def lstm_cell(r: Node, order: str, functions: Sequence[Function] = (b.sigmoid, b.tanh, b.tanh),
              peephole: Sequence[Node] | None = None,
              projection: Node | None = None) -> Cell:  # fmt: skip
    """i, f, o = f(...); c' = f * c + i * g(...); h' = o * h(c').

    r           [4 * h, h], its gates in the order of the letters i, f, g, o
    peephole    three vectors through which i, f and o see c
    projection  [p, h]: the state that goes on is p wide
    """
    f, g, h = functions

    def look(gate: Node, which: int, c: Node) -> Node:
        return gate if peephole is None else b.add(gate, b.mul(peephole[which], c))

    def cell(x: Node, states: list[Node]) -> list[Node]:
        hidden, c = states
        i, forget, new, o = _split(b.add(_linear(hidden, r, None), x), order, "ifgo")
        i, forget = f(look(i, 0, c)), f(look(forget, 1, c))
        c = b.add(b.mul(forget, c), b.mul(i, g(new)))
        hidden = b.mul(f(look(o, 2, c)), h(c))
        return [hidden if projection is None else _linear(hidden, projection, None), c]

    return cell


def gru_cell(r: Node, bias: Node | None, order: str,
             functions: Sequence[Function] = (b.sigmoid, b.tanh),
             reset_last: bool = True) -> Cell:  # fmt: skip
    """z, r = f(...); n = g(x + r * state); h' = (1 - z) * n + z * h.

    r            [3 * h, h], its gates in the order of the letters z, r, n; n comes last
    reset_last   r scales the product of the state; else the state before the product
    """
    f, g = functions
    size = r.type.dims[1]
    rows = [blocks.cut(r, 0, 0, 2 * size), blocks.cut(r, 0, 2 * size, 3 * size)]
    shifts: list[Node | None] = [None, None]
    if bias is not None:
        shifts = [blocks.cut(bias, 0, 0, 2 * size), blocks.cut(bias, 0, 2 * size)]

    def cell(x: Node, states: list[Node]) -> list[Node]:
        (hidden,) = states
        (nx,) = _split(x, order, "n")
        if reset_last:
            zh, rh, nh = _split(_linear(hidden, r, bias), order, "zrn")
        else:
            zh, rh = _split(_linear(hidden, rows[0], shifts[0]), order[:2], "zr")
        zx, rx = _split(x, order, "zr")
        z, reset = f(b.add(zx, zh)), f(b.add(rx, rh))
        if not reset_last:
            nh = _linear(b.mul(reset, hidden), rows[1], shifts[1])
        new = g(b.add(nx, b.mul(reset, nh) if reset_last else nh))
        return [b.add(b.mul(b.sub(1.0, z), new), b.mul(z, hidden))]

    return cell


def rnn_cell(r: Node, function: Function) -> Cell:
    """h' = f(...)."""
    return lambda x, states: [function(b.add(_linear(states[0], r, None), x))]


# ── the loop ──


def recurrent(
    cell: Cell,
    gates: Node,
    states: Sequence[Node],
    lengths: Node | None = None,
    reverse: bool = False,
) -> tuple[Node, list[Node]]:
    """The first state after each step, in order of time, and all states after the last one.

    gates    [steps, n, ...]: what each step takes from the input
    lengths  i64[n]: rows that are shorter than the sequence keep their states and give zeros
    """
    kinds = [s.type for s in states]
    result = len(states) if lengths is not None else 0  # the part that is given after each step
    parts = Parts((*kinds, kinds[0]) if result else tuple(kinds))
    column = None if lengths is None else b.reshape(lengths, (-1, 1))
    zero = b.const(0, kinds[0].dtype)

    def step(state: Node, x: Node, *time: Node) -> Node:
        old = [parts.part(state, k) for k in range(len(states))]
        new = cell(x, old)
        if column is not None:
            runs = apply("gt", column, *time)
            given = b.select(runs, new[0], zero)
            new = [*(b.select(runs, n, o) for n, o in zip(new, old, strict=True)), given]
        return parts.join(new)

    initial = parts.join([*states, *([b.expand(zero, kinds[0].shape)] if result else [])])
    times = [apply("iota", shape=gates.type.dims[:1])] if result else []
    history = scan(step, initial, [gates, *times], reverse)
    end = (first if reverse else final)(history, initial)
    return parts.part(history, result), [parts.part(end, k) for k in range(len(states))]
