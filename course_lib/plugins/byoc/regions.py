"""Regions and divided modules that are written by hand, as TVM's passes make them.

    region("fused_0_chip", "int8", (4, 8), [Layer(0, 6)], outputs=[1])
    calling([a, "sigmoid", b])          main: the region a, a sigmoid, the region b

Next room: `memory.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.plugins.byoc.build import op, written
from course_lib.plugins.byoc.dense import between, layer
from course_lib.plugins.byoc.tree import (
    Attrs,
    Function,
    GlobalVar,
    IRModule,
    RelaxCall,
    TensorType,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
    function,
)


def region(
    symbol: str, x: TensorType, chain: Sequence[tuple[int, int, dict[str, Any]]],
    outputs: Sequence[int], seed: int = 0,
) -> Function:  # fmt: skip
    """A function with Codegen. `chain` has for each layer the number of the value that it reads (0
    is x), its columns, and what `layer` is told beside; `outputs` has numbers of values, too."""
    rng = np.random.default_rng(seed)
    values, bindings = [Var("x", x)], []
    for number, (read, n, how) in enumerate(chain, 1):
        ty = values[read].ty
        assert isinstance(ty, TensorType)
        inner = composite(ty, n, how, rng)
        name = Var(f"layer{number}", inner.results[0].ty)
        values.append(Var(f"y{number}", inner.results[0].ty))
        call = RelaxCall(name, (values[read],), Attrs(), values[-1].ty)
        bindings += [VarBinding(name, inner), VarBinding(values[-1], call)]
    results = [values[number] for number in outputs]
    return function([values[0]], bindings, results, Codegen="chip", global_symbol=symbol)


def composite(
    x: TensorType, n: int, how: dict[str, Any], rng: np.random.Generator | None = None
) -> Function:
    """A function with Composite: one layer."""
    drawn = rng or np.random.default_rng(n)
    main = written(lambda x: layer(x, n, rng=drawn, **how), x)["main"]
    return replace(main, attrs=Attrs((("Composite", "chip.dense"),)))


def calling(x: TensorType, steps: Sequence[Function | str]) -> IRModule:
    """A divided module: regions with one parameter, and what the chip cannot do ("sigmoid", or
    the "difference" of the two results of the region before)."""
    values: list[Var] = [Var("x0", x)]
    bindings: list[VarBinding] = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            types = [v.ty for v in values if isinstance(v.ty, TensorType)]
            host = written(lambda *given, f=step: _on_the_host(f, *given), *types)["main"]
            named = {p: v for p, v in zip(host.params, values, strict=True)}
            for b in host.bindings:
                named[b.var] = Var(f"h{number}_{b.var.name}", b.var.ty)
                assert isinstance(b.value, RelaxCall)
                args = tuple(named[a] if isinstance(a, Var) else a for a in b.value.args)
                bindings.append(VarBinding(named[b.var], replace(b.value, args=args)))
            values = [named[host.results[0]]]
            continue
        made = tuple(r.ty for r in step.results if isinstance(r.ty, TensorType))
        ty = made[0] if len(made) == 1 else TupleType(made)
        whole = Var(f"r{number}", ty)
        called = GlobalVar(str(step.attrs["global_symbol"]))
        bindings.append(VarBinding(whole, RelaxCall(called, (values[0],), Attrs(), ty)))
        values = [whole]
        if len(made) > 1:
            values = [Var(f"r{number}_{k}", t) for k, t in enumerate(made)]
            bindings += [VarBinding(v, TupleGetItem(whole, k)) for k, v in enumerate(values)]
    parts = {str(s.attrs["global_symbol"]): s for s in steps if isinstance(s, Function)}
    main = function([Var("x0", x)], bindings, values)
    return IRModule((*parts.items(), ("main", main)))


def _on_the_host(f: str, *values: Var) -> Var:
    if len(values) == 1:
        return between(values[0], f)
    return op("add", values[0], op("negative", values[1]))
