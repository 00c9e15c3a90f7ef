"""ONNX rules for recurrent layers: each direction is one loop over the steps.

    LSTM(%x: f32[3,n,d], ...)   ->   %0 = matmul(%x, %w) + %b;   %1 = scan(%h0, %0, %r) {...}

The cells, and the loop around them, are in `frontend/recurrent.py`. Next: `control.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.frontend import blocks, recurrent
from course_lib.frontend.onnx.table import translates
from course_lib.frontend.recurrent import Cell, Weights
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node
from course_lib.ir.types import i64

Functions = Sequence[Callable[[Node], Node]]
ACTIVATIONS: dict[str, Callable[[Node], Node]] = {
    "Sigmoid": b.sigmoid,
    "Tanh": b.tanh,
    "Relu": b.relu,
}
# (weights, peephole, activations) of one direction -> what its products are, and the cell
MakeCell = Callable[[Weights, Node | None, Functions], tuple[Weights, Cell]]


@translates("LSTM")
def lstm(x: Node, w: Node, r: Node, bias: Node | None = None, lengths: Node | None = None,
         initial_h: Node | None = None, initial_c: Node | None = None, peephole: Node | None = None,
         *, hidden_size: int, direction: str = "forward", layout: int = 0, input_forget: int = 0,
         activations: Sequence[str] = ("Sigmoid", "Tanh", "Tanh")) -> list[Node]:  # fmt: skip
    if input_forget:
        raise ValueError("coupled input and forget gates are not supported")

    def cell(weights: Weights, peephole: Node | None, functions: Functions) -> tuple[Weights, Cell]:
        seen = None
        if peephole is not None:
            i, o, f = blocks.split(peephole, 0, [hidden_size] * 3)
            seen = [i, f, o]
        return weights.one_bias(), recurrent.lstm_cell(weights.of_state, "iofg", functions, seen)

    return _layer(cell, x, [w, r, bias, peephole], lengths, [initial_h, initial_c], hidden_size,
                  direction, layout, activations, 3)  # fmt: skip


@translates("GRU")
def gru(x: Node, w: Node, r: Node, bias: Node | None = None, lengths: Node | None = None,
        initial_h: Node | None = None, *, hidden_size: int, direction: str = "forward",
        layout: int = 0, linear_before_reset: int = 0,
        activations: Sequence[str] = ("Sigmoid", "Tanh")) -> list[Node]:  # fmt: skip
    def cell(weights: Weights, _: Node | None, functions: Functions) -> tuple[Weights, Cell]:
        last = bool(linear_before_reset)
        return weights, recurrent.gru_cell(weights.of_state, weights.state_bias, "zrn", functions,
                                           last)  # fmt: skip

    return _layer(cell, x, [w, r, bias, None], lengths, [initial_h], hidden_size, direction,
                  layout, activations, 2)  # fmt: skip


@translates("RNN")
def rnn(x: Node, w: Node, r: Node, bias: Node | None = None, lengths: Node | None = None,
        initial_h: Node | None = None, *, hidden_size: int, direction: str = "forward",
        layout: int = 0, activations: Sequence[str] = ("Tanh",)) -> list[Node]:  # fmt: skip
    def cell(weights: Weights, _: Node | None, functions: Functions) -> tuple[Weights, Cell]:
        return weights.one_bias(), recurrent.rnn_cell(weights.of_state, functions[0])

    return _layer(cell, x, [w, r, bias, None], lengths, [initial_h], hidden_size, direction,
                  layout, activations, 1)  # fmt: skip


# ── what the three layers share ──


def _layer(make_cell: MakeCell, x: Node, weights: list[Node | None],
           lengths: Node | None, initial: list[Node | None], hidden: int, direction: str,
           layout: int, activations: Sequence[str], per_cell: int) -> list[Node]:  # fmt: skip
    """Run each direction; results are all hidden states, then the last of each state."""
    x = b.transpose(x, (1, 0, 2)) if layout else x
    lengths = None if lengths is None else as_type(lengths, i64)
    count = 2 if direction == "bidirectional" else 1
    functions = _functions(activations, count, per_cell)
    states = [_initial(s, layout, (count, x.type.dims[1], hidden), x) for s in initial]
    sequences, finals = [], []
    for d in range(count):
        w, r, bias, peephole = (None if v is None else blocks.item(v, 0, d) for v in weights)
        assert w is not None and r is not None
        given, cell = make_cell(Weights(w, r, *_halves(bias)), peephole, functions[d])
        outputs, last = recurrent.recurrent(
            cell, given.gates(x), [blocks.item(s, 0, d) for s in states], lengths,
            direction == "reverse" or d == 1)  # fmt: skip
        sequences.append(outputs)
        finals.append(last)
    y = blocks.stack(sequences, 1)  # [time, direction, batch, hidden]
    last = [blocks.stack([final[k] for final in finals], 0) for k in range(len(initial))]
    if layout:
        y, last = b.transpose(y, (2, 0, 1, 3)), [b.transpose(s, (1, 0, 2)) for s in last]
    return [y, *last]


def _functions(activations: Sequence[str], directions: int, each: int) -> list[Functions]:
    """For each direction the functions of its gates. The model names them for one, or for all."""
    names = [a.decode() if isinstance(a, bytes) else a for a in activations]
    unknown = [n for n in names if n not in ACTIVATIONS]
    if unknown:
        raise ValueError(f"the activation {unknown[0]} is not supported")
    functions = [ACTIVATIONS[n] for n in names] * (directions * each // len(names))
    return [functions[d * each : (d + 1) * each] for d in range(directions)]


def _halves(bias: Node | None) -> list[Node | None]:
    """The bias of the input's product and that of the state's product."""
    if bias is None:
        return [None, None]
    return list(blocks.split(bias, 0, [bias.type.dims[0] // 2] * 2))


def _initial(state: Node | None, layout: int, shape: tuple[int, ...], like: Node) -> Node:
    if state is None:
        return b.expand(b.const(0, like.type.dtype), shape)
    return b.transpose(state, (1, 0, 2)) if layout else state
