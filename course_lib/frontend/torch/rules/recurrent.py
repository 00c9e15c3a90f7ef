"""ATen rules for recurrent layers: each direction of each layer is one loop over the steps.

    aten.lstm.input(%x, [%h, %c], [weights ...])   ->   %0 = scan(...)       // layer 0, forward
                                                        %1 = scan(...) ...   // layer 0, backward

Next: `frontend/recurrent.py`, the cells and the loop around them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from course_lib.frontend import blocks, recurrent
from course_lib.frontend.recurrent import Cell, Weights
from course_lib.frontend.torch.table import translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node

# (weights, projection or None) of one direction -> what its products are, and the cell
MakeCell = Callable[[Weights, Node | None], tuple[Weights, Cell]]


@translates("lstm.input")
def lstm(x: Node, hx: Sequence[Node], params: Sequence[Node], has_biases: bool, num_layers: int,
         dropout: float, train: bool, bidirectional: bool,
         batch_first: bool) -> list[Node]:  # fmt: skip
    return _layers(_lstm, x, hx, params, has_biases, num_layers, bidirectional, batch_first)


def _one_state(make_cell: MakeCell, x: Node, hx: Node, params: Sequence[Node], has_biases: bool,
               num_layers: int, dropout: float, train: bool, bidirectional: bool,
               batch_first: bool) -> list[Node]:  # fmt: skip
    """GRU and RNN have one state, and otherwise the parameters of `lstm`."""
    return _layers(make_cell, x, [hx], params, has_biases, num_layers, bidirectional, batch_first)


def _lstm(weights: Weights, projection: Node | None) -> tuple[Weights, Cell]:
    cell = recurrent.lstm_cell(weights.of_state, "ifgo", projection=projection)
    return weights.one_bias(), cell


def _gru(weights: Weights, _: Node | None) -> tuple[Weights, Cell]:
    return weights, recurrent.gru_cell(weights.of_state, weights.state_bias, "rzn")


def _rnn(function: recurrent.Function, weights: Weights, _: Node | None) -> tuple[Weights, Cell]:
    return weights.one_bias(), recurrent.rnn_cell(weights.of_state, function)


translates("gru.input")(partial(_one_state, _gru))
translates("rnn_tanh.input")(partial(_one_state, partial(_rnn, b.tanh)))
translates("rnn_relu.input")(partial(_one_state, partial(_rnn, b.relu)))


def _layers(make_cell: MakeCell, x: Node, initial: Sequence[Node], params: Sequence[Node],
            has_biases: bool, layers: int, bidirectional: bool,
            batch_first: bool) -> list[Node]:  # fmt: skip
    """All layers, one on top of the other; results are those of the last one, then the last states.

    params   for each direction of each layer: two matrices, two biases, a projection, as far as
             there are any
    initial  for each kind of state [layers * directions, n, h]
    """
    directions = 2 if bidirectional else 1
    each = len(params) // (layers * directions)
    x = b.transpose(x, (1, 0, 2)) if batch_first else x
    ends: list[list[Node]] = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            k = layer * directions + direction
            own = params[k * each : (k + 1) * each]
            biases = own[2:4] if has_biases else (None, None)
            projection = own[-1] if each % 2 else None
            given, cell = make_cell(Weights(own[0], own[1], *biases), projection)
            states = [blocks.item(s, 0, k) for s in initial]
            y, end = recurrent.recurrent(cell, given.gates(x), states, reverse=direction == 1)
            outputs.append(y)
            ends.append(end)
        x = outputs[0] if directions == 1 else b.concat(outputs, 2)
    y = b.transpose(x, (1, 0, 2)) if batch_first else x
    return [y, *(blocks.stack([end[k] for end in ends], 0) for k in range(len(initial)))]
