"""ATen ops, one after the other: what all graphs have in common that PyTorch hands over.

    %relu = aten.relu.default(%fc)   ->   %relu = relu(%fc) loc("fc")

`export.py` walks programs of torch.export with it, `captured.py` what torch.compile captures. They
differ in their inputs and outputs; between these, both are calls of ATen ops in order.

Next: `whole.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import fx

from course_lib.frontend.provenance import stamp
from course_lib.frontend.torch import table as aten
from course_lib.frontend.torch.rules import find_rule
from course_lib.ir.graph.node import Node
from course_lib.ir.types import TensorType


class Calls:
    """`values` maps each torch value to ours: a node, a list of them, or a number."""

    def __init__(self) -> None:
        self.values: dict[fx.Node, Any] = {}

    def call(self, node: fx.Node, wanted: Any) -> Any:
        """One ATen op, by its rule; every node that the rule makes gets the module's path.

        wanted   what PyTorch says that the result is: a tensor, or several. A rule that gives
                 another type is wrong.
        """
        operands: list[Node] = []
        where = origin(node)

        def lookup(argument: fx.Node) -> Any:
            value = self.values[argument]
            if value is None and argument.op == "call_function":
                raise ValueError(
                    f"{node.target} (from {', '.join(where)}) reads {argument.name}, a result of "
                    "an op that this compiler computes only in part"
                )
            operands.extend(v for v in (value if isinstance(value, list) else [value])
                            if isinstance(v, Node))  # fmt: skip
            return value

        args = fx.map_arg(node.args, lookup)
        kwargs = fx.map_arg(node.kwargs, lookup)
        rule = find_rule(node.target)
        assert rule is not None, "unknown ops have been refused before"
        try:
            result = rule(*args, **kwargs)
        except (ValueError, TypeError) as error:
            place = f" (from {', '.join(where)})" if where else ""
            raise ValueError(f"{node.target}{place}: {error}") from error
        _check_types(node, result, wanted)
        if isinstance(result, (list, tuple)):
            return stamp(result, operands, where)
        return stamp([result], operands, where, [node.name])[0]


def _check_types(node: fx.Node, result: Any, wanted: Any) -> None:
    many = isinstance(wanted, (list, tuple))
    pairs = zip(result, wanted, strict=False) if many else [(result, wanted)]
    for have, want in pairs:
        if isinstance(have, Node) and isinstance(want, torch.Tensor):
            type = tensor_type(want)
            assert have.type == type, f"{node.format_node()}: gives {have.type}, should be {type}"


def tensor_type(tensor: torch.Tensor) -> TensorType:
    """Our type for a tensor. A size that is a symbol is as large as it was when PyTorch traced."""
    return TensorType(aten.element_type(tensor.dtype), tuple(map(as_number, tensor.shape)))


def as_number(size: Any) -> Any:
    """A size, or another number, that may be a symbol. ValueError if only the data tell it."""
    if isinstance(size, (bool, int, float)):
        return size
    hint = size.node.hint
    if hint is None:
        raise ValueError("one of its sizes depends on data")
    return hint


def origin(node: fx.Node) -> tuple[str, ...]:
    """The path of the module whose forward called this op, such as `layer1.0.conv1`.

    The outermost module has no path; its class name stands for it. In a function without a module
    it is the line that called the op.
    """
    meta = node.meta
    stack = list((meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack") or {}).values())
    if not stack:
        line = source_line(node)
        return (line,) if line else ()
    path, kind = stack[-1]
    named = kind.__name__ if isinstance(kind, type) else str(kind).rsplit(".", 1)[-1]
    return (_plain(path) or named,)


def _plain(path: str) -> str:
    """`L['self'].layer1[0]._modules['conv']`, as Dynamo writes a path, as `layer1.0.conv`."""
    path = re.sub(r"^L\['\w+'\]", "", path)
    path = re.sub(r"\._modules|\[['\"]?|['\"]?\]", ".", path)
    return re.sub(r"\.+", ".", path).strip(".")


def source_line(node: fx.Node) -> str:
    """The line of the model that called this op, such as `net.py:12`; "" if nobody knows."""
    lines = re.findall(r'File "(.+)", line (\d+)', node.meta.get("stack_trace") or "")
    return f"{Path(lines[-1][0]).name}:{lines[-1][1]}" if lines else ""
