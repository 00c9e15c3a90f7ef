"""One product on the systolic array: three levels of ours, and SCALE-Sim where it is installed.

    make bench            (or: python benchmarks/systolic.py --scalesim ENVIRONMENT/bin/python)

197 x 768 x 768 on 32 x 32 cells: a projection of a vision transformer. "course" is level 2, which a
compiler asks; level 0 runs once. SCALE-Sim has requirements of its own, so it runs once too, as a
process of the Python that has it; its time includes its start and its reports. There is no figure
unless all agree in the number of cycles; that tool's report says one less. With --models, also
whole int8 models on the chip: "course" is one inference, values computed and clocks counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from measuring import Engine, finish, measure, options
from tqdm import tqdm

from course_lib.accelerator.array.multiply import multiply
from course_lib.accelerator.systolic import STAYS, SystolicArray
from course_lib.compiler import compile
from course_lib.ir.graph.graph_interp import run
from course_lib.models import MODELS, example_inputs
from course_lib.targets.systolic import SystolicModel

SIZES, SIDE = (197, 768, 768), 32  # m, k, n
CONFIG = """[general]
run_name = course
[architecture_presets]
ArrayHeight: {side}
ArrayWidth: {side}
IfmapSramSzkB: 64
FilterSramSzkB: 64
OfmapSramSzkB: 64
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: {dataflow}
Bandwidth: 10
MemoryBanks: 1
[run_presets]
InterfaceBandwidth: CALC
"""


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--scalesim", metavar="PYTHON", default=sys.executable,
                        help="of an environment with the package scalesim (this one)")  # fmt: skip
    parser.add_argument("--product", type=int, nargs=3, metavar=("M", "K", "N"), default=SIZES)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=[], metavar="MODEL")
    asked = parser.parse_args()
    m, k, n = asked.product
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((m, k), (k, n)))
    left_out = {} if has_scalesim(asked.scalesim) else {
        "SCALE-Sim": f"{asked.scalesim} has no package scalesim"
    }  # fmt: skip
    rows = []
    for dataflow in tqdm(STAYS, disable=not sys.stderr.isatty()):
        array = SystolicArray(SIDE, SIDE, dataflow=dataflow)
        times, count = levels(a, b, array, asked.rounds, asked.seconds)
        if not left_out:
            times["SCALE-Sim"] = scalesim(asked.scalesim, asked.product, array, count)
        what = f"{m} x {k} x {n}, {dataflow}"
        rows.append({"product": what, "threads": 1, "cycles": count, "ms": times})
    rows += [whole_model(name) for name in asked.models]
    finish(rows, "product", left_out, asked)


def whole_model(name: str) -> dict:
    """One inference of a model of the course on the chip, once; no figure if a bit differs."""
    inputs = list(example_inputs(name))
    model = compile(MODELS[name].build(), inputs, target="systolic")
    assert isinstance(model, SystolicModel)
    start = time.perf_counter()
    outputs = model.run(inputs)
    cycles = sum(program.timing.total for program in model.offloaded.programs)
    once = 1e3 * (time.perf_counter() - start)
    for have, want in zip(outputs, run(model.graph, inputs), strict=True):
        if (have != want).any():
            raise SystemExit(f"{name}: the chip and the interpreter differ: no figures")
    return {"product": name, "threads": 1, "cycles": cycles, "ms": {"course": once}}


def levels(
    a: np.ndarray, b: np.ndarray, array: SystolicArray, rounds: int, seconds: float
) -> tuple[dict[str, float], int]:
    """Milliseconds of each level, and the cycles in which they agree."""
    start = time.perf_counter()
    stepped = multiply(a, b, array, 0)
    once = 1e3 * (time.perf_counter() - start)
    for level in (1, 2):
        result = multiply(a, b, array, level)
        if result.cycles != stepped.cycles or (result.values != stepped.values).any():
            raise SystemExit(f"levels 0 and {level} differ on {array}: no figures")
    calls: dict[str, Engine] = {
        "course": lambda: [multiply(a, b, array, 2).values],
        "level 1": lambda: [multiply(a, b, array, 1).values],
    }
    return {**measure(calls, rounds, seconds), "level 0": once}, stepped.cycles


def has_scalesim(python: str) -> bool:
    try:
        done = subprocess.run([python, "-c", "import scalesim"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def scalesim(python: str, sizes: Sequence[int], array: SystolicArray, cycles: int) -> float:
    """Milliseconds of one run of the tool, in a process of its own."""
    m, k, n = sizes
    with tempfile.TemporaryDirectory() as folder:
        config, layers = Path(folder, "array.cfg"), Path(folder, "product.csv")
        config.write_text(CONFIG.format(side=SIDE, dataflow=array.dataflow))
        layers.write_text(f"Layer, M, N, K,\nproduct, {m}, {n}, {k},\n")
        command = [python, "-m", "scalesim.scale", "-c", config, "-t", layers]
        start = time.perf_counter()
        done = subprocess.run(
            [*command, "-p", "out", "-i", "gemm"], cwd=folder, capture_output=True, text=True
        )
        seconds = time.perf_counter() - start
    reported = [line for line in done.stdout.splitlines() if line.startswith("Compute cycles:")]
    if [line.split()[-1] for line in reported] != [str(cycles - 1)]:
        raise SystemExit(f"SCALE-Sim reports {reported}, not {cycles - 1}: no figures")
    return 1e3 * seconds


if __name__ == "__main__":
    main()
