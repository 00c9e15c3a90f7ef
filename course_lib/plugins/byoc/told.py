"""A divided module in short, of TVM or of the stand-in, and the tree of a region.

    told(module)      ->   main:      region 0, dequantize, sigmoid, quantize, region 1
                           region 0:  dense+bias+relu, dense+bias+relu

Next room: `course_lib/plugins/tvm`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

LAYERS = {
    " ".join(["matmul", *["add"] * bias, "dequantize", *["nn.relu"] * relu, "quantize"]):
    f"dense{'+bias' * bias}{'+relu' * relu}" for bias in (0, 1) for relu in (0, 1)
}  # fmt: skip


class Division(NamedTuple):
    """The operations that `main` computes itself, in order, and the layers of each region; a
    layer that is none of the chip is the list of its operations."""

    main: list[str]
    regions: list[list[str]]

    def __str__(self) -> str:
        rows = [("main", self.main), *((f"region {k}", r) for k, r in enumerate(self.regions))]
        return "\n".join(f"{name + ':':<11}{', '.join(words)}" for name, words in rows)


def division(module: Any) -> Division:
    """Functions that `main` calls are regions if they have Codegen "chip"."""
    functions = {str(var.name_hint): function for var, function in module.functions.items()}
    main: list[str] = []
    regions: list[list[str]] = []
    for binding in _bindings(module["main"]):
        op = getattr(binding.value, "op", None)
        if op is None:  # a part of a tuple, or a tuple
            continue
        symbol = getattr(op, "name_hint", None)
        if symbol is None:
            main.append(str(op.name).removeprefix("relax."))
        elif _attr(functions[str(symbol)], "Codegen") == "chip":
            regions.append([_layer(inner) for inner in _inner(functions[str(symbol)])])
            main.append(f"region {len(regions) - 1}")
        else:
            main.append("a function without Codegen chip")
    return Division(main, regions)


def told(module: Any) -> str:
    """The division as text."""
    return str(division(module))


def _bindings(function: Any) -> list[Any]:
    return [binding for block in function.body.blocks for binding in block.bindings]


def _attr(function: Any, name: str) -> str:
    attrs = function.attrs
    return str(attrs[name]) if attrs is not None and name in attrs else ""


def _inner(region: Any) -> list[Any]:
    return [b.value for b in _bindings(region) if hasattr(b.value, "params")]


def _layer(function: Any) -> str:
    ops = [str(b.value.op.name).removeprefix("relax.") for b in _bindings(function)
           if hasattr(b.value, "op") and hasattr(b.value.op, "name")]  # fmt: skip
    words = LAYERS.get(" ".join(ops), " ".join(ops))
    count = len(function.params)
    return words if count == 1 else f"{words} of {count} operands"
