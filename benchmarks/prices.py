"""How well the prices of `cost/nest.py` order schedules: by rank, against measured time.

    make bench            (or: python benchmarks/prices.py --model block --tiles 20)

For every kernel of a model we take the schedule that the compiler chooses, the kernel without one
and some random tiles, predict each, and measure each on one thread. "rank" is Spearman's rank
correlation between prices and times, of all schedules of a model together and on average within a
kernel; 1 means the same order. "picked" is how much longer the schedule with the lowest price takes
than the fastest that was measured, on average; "chosen" is the same for the compiler's own choice.
"""

from __future__ import annotations

import argparse
import random
import sys

import numpy as np
from results import arguments, keep
from tqdm import tqdm

from course_lib.compiler import read
from course_lib.cost.machine import Machine
from course_lib.cost.nest import predict
from course_lib.ir.arrays import aligned_empty
from course_lib.ir.loops.nest import Kernel
from course_lib.llvm.host import host_machine
from course_lib.llvm.jit import compile_kernels
from course_lib.lower.lower import lower
from course_lib.measure.turns import in_spells
from course_lib.models import MODELS, example_inputs
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from course_lib.schedule.candidates import candidates
from course_lib.schedule.choose import choose, parallel_outside, run_in_tiles
from course_lib.schedule.reduction import reduction
from course_lib.schedule.schedule import distinct
from course_lib.schedule.script import Script

Pair = tuple[float, float]  # price and measured time, both in seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", choices=MODELS, help="default: all four")
    parser.add_argument("--tiles", type=int, default=8, help="random tiles of each kernel")
    parser.add_argument("--seconds", type=float, default=0.02, help="for each schedule")
    parser.add_argument("--seed", type=int, default=0)
    arguments(parser)
    asked = parser.parse_args()
    machine, rows = host_machine(1), []
    for model in asked.model or list(MODELS):
        rng = random.Random(asked.seed)
        pairs: list[list[Pair]] = []
        for kernel, constants in tqdm(kernels(model), model, disable=not sys.stderr.isatty()):
            tried = schedules(kernel, constants, machine, asked.tiles, rng)
            pairs.append([(predict(k, machine).seconds, seconds(k, asked.seconds)) for k in tried])
        rows.append({"model": model, **summary(pairs)})
    names = list(rows[0])
    print("| " + " | ".join(names) + " |\n|---|" + "--:|" * (len(names) - 1))
    for row in rows:
        print(
            "| "
            + " | ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row.values())
            + " |"
        )
    keep({"machine": str(machine), "rows": rows}, asked)


def kernels(model: str) -> list[tuple[Kernel, frozenset[str]]]:
    """The different kernels of a model, and which of their operands are constants."""
    graph = run_passes(read(MODELS[model].build(), example_inputs(model)), DEFAULT)
    return distinct(lower(everywhere(graph, decompose)))


def schedules(
    kernel: Kernel, constants: frozenset[str], machine: Machine, tiles: int, rng: random.Random
) -> list[Kernel]:
    """What the compiler chooses, first; the kernel as it is; and random tiles. Each once."""
    by_text = {repr(k): k for k in (choose(kernel, machine, constants), kernel)}
    of = reduction(kernel)
    possible = list(candidates(of, machine, constants)) if of else []
    for tile in rng.sample(possible, min(tiles, len(possible))):
        script = Script(kernel)
        try:
            run_in_tiles(script, tile)
        except ValueError:
            continue  # a primitive refuses it
        parallel_outside(script)
        by_text[repr(script.kernel)] = script.kernel
    return list(by_text.values())


def seconds(kernel: Kernel, limit: float) -> float:
    """The shortest of many runs on random numbers."""
    code, rng = compile_kernels([kernel]), np.random.default_rng(0)  # it lives as long as `code`
    arrays = []
    for buffer in kernel.params:
        array = aligned_empty(buffer.type.dims, buffer.type.dtype.numpy)
        array[...] = rng.random(buffer.type.dims) if buffer.type.dtype.is_float else 0
        arrays.append(array)
    places = [array.ctypes.data for array in arrays]

    def run() -> None:
        for function, count in code.functions[kernel.name]:
            function(*places, 0, count)

    return min(in_spells([run], limit)[0])


def summary(priced: list[list[Pair]]) -> dict[str, float]:
    several = [pairs for pairs in priced if len(pairs) >= 4]
    best = [min(time for _, time in pairs) for pairs in priced]
    picked = [min(pairs)[1] / least for pairs, least in zip(priced, best, strict=True)]
    chosen = [pairs[0][1] / least for pairs, least in zip(priced, best, strict=True)]
    return {
        "kernels": len(priced),
        "schedules": sum(map(len, priced)),
        "rank, all": rank_correlation([pair for pairs in priced for pair in pairs]),
        "rank, in a kernel": float(np.mean([rank_correlation(pairs) for pairs in several])),
        "picked": float(np.exp(np.mean(np.log(picked)))),
        "chosen": float(np.exp(np.mean(np.log(chosen)))),
    }


def rank_correlation(pairs: list[Pair]) -> float:
    """Spearman's: the correlation of the places in both orders."""
    prices, times = (np.argsort(np.argsort(side)) for side in zip(*pairs, strict=True))
    middle = (len(pairs) - 1) / 2
    return float(((prices - middle) * (times - middle)).sum() / ((times - middle) ** 2).sum())


if __name__ == "__main__":
    main()
