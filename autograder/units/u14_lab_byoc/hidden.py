"""Hidden checks of the lab beside unit 14: programs, regions and layers drawn for the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.framework import hidden
from autograder.units.u14_lab_byoc.checks import division, program, runtime
from autograder.units.u14_lab_byoc.checks.division import BIASED, JOINED, REST
from course_lib.plugins.byoc.build import const, op, written
from course_lib.plugins.byoc.dense import between, layer
from course_lib.plugins.byoc.memory import TEACHING
from course_lib.plugins.byoc.regions import calling, region
from course_lib.plugins.byoc.told import Division
from course_lib.plugins.byoc.tree import IRModule, TensorType, Var

SEED = 141_428


WRONGS: list[dict[str, Any]] = [
    *({"step": const(step, "float32")} for step in (0.25, 0.5, 2)),
    *({"zero": const(zero, "int8")} for zero in (-5, 1)),
    *({"sums_zero": const(zero, "int32")} for zero in (-100, 1)),
    {"bias_value": const(5, "int32")},
]


def drawn(rng: np.random.Generator, length: int) -> tuple[IRModule, Division]:
    """A chain of layers for the chip, layers with one thing that it cannot do, and operations of
    the processor; sometimes the result of a layer is a result of the program, too."""
    main: list[str] = []
    chains: list[list[str]] = []

    def program(x: Var) -> list[Var]:
        more: list[Var] = []
        on_chip = False
        for _ in range(length):
            n = int(rng.integers(2, 7))
            kind, bias, relu = rng.random(), bool(rng.integers(2)), bool(rng.integers(2))
            if kind < 0.6:
                x = layer(x, n, bias, relu, bool(rng.integers(2)), rng)
                if not on_chip:
                    main.append(f"region {len(chains)}")
                    chains.append([])
                chains[-1].append(f"dense{'+bias' * bias}{'+relu' * relu}")
                on_chip = True
                more += [x] if kind < 0.1 else []
            elif kind < 0.8:
                wrong = WRONGS[int(rng.integers(len(WRONGS)))]
                bias = bias or "bias_value" in wrong
                x = layer(x, n, bias, relu, rng=rng, **wrong)
                gone = [*["add"] * (not bias), *["nn.relu"] * (not relu)]
                main.extend(o for o in BIASED.split() if o not in gone)
                on_chip = False
            else:
                x = between(x) if kind < 0.9 else op("negative", x)
                main.extend(["dequantize", "sigmoid", "quantize"] if kind < 0.9 else ["negative"])
                on_chip = False
        return [x, *(value for value in more if value != x)]

    x = TensorType((int(rng.integers(1, 65)), 5), "int8")
    return written(program, x), Division(main, chains)


@hidden("u14_lab_byoc.divided", seed=SEED)
def divides_chains(divided, rng):
    """Chains of layers and other operations that were drawn for this run."""
    for number in range(25):
        module, want = drawn(rng, 1 + number // 3)
        division.divides(divided, module, want, JOINED if len(want.regions) == 1 else REST)
    return "25 programs"


@hidden("u14_lab_byoc.generate", seed=SEED)
def computes_drawn_layers(generate, rng):
    """Layers and chips that were drawn for this run."""
    for number in range(25):
        rows, cols = (int(v) for v in rng.integers(2, 9, 2))
        acts, weights, accs = (
            int(rng.choice(some)) for some in ((1024, 8192), (256, 1024), (32, 64))
        )
        chip = replace(TEACHING, rows=rows, cols=cols, acts=acts, weights=weights, accs=accs)
        most = min(chip.accs, chip.acts // 4 // max(rows, cols))
        m = most if number % 4 == 0 else int(rng.integers(1, most + 1))
        k, n = (int(v) for v in rng.integers(1, 40, 2))
        how = {key: bool(rng.integers(2)) for key in ("bias", "relu", "bias_first")}
        scale = {"scale": const(rng.uniform(0.001, 0.01), "float32")} if rng.integers(2) else {}
        program.computes(generate, m, k, n, how | scale, chip, int(rng.integers(1000)))
    return "25 layers"


@hidden("u14_lab_byoc.run", seed=SEED)
def runs_drawn_modules(run, rng):
    """Modules that were drawn for this run."""
    for number in range(12):
        steps: list[Any] = []
        x = runtime.X
        for place in range(1 + number % 4):
            several = bool(rng.integers(2))
            chain = [(0, 6, {}), (1, 6, {"relu": bool(rng.integers(2))})]
            outputs = [int(v) for v in rng.permutation([1, 2])][: 1 + several]
            steps.append(region(f"fused_{place}_chip", x, chain, outputs, int(rng.integers(1000))))
            steps += ["difference"] if several else ["sigmoid"] * int(rng.integers(2))
        runtime.runs(run, calling(x, steps), int(rng.integers(1000)))
    return "12 modules"
