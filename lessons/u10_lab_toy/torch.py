"""relu(x @ w) as torch-mlir writes it, and a pipeline of MLIR's passes that is typed.

    level("one-shot-bufferize{...}")     the text after these passes, or what went wrong
    levels_table(PIPELINE)               lines, and operations of each dialect, after each of them
    computed(PIPELINE, [("biased", 4)])  what the machine code computes
    after(PIPELINE)                      what a check looks at

torch-mlir's wheel runs the passes, or MLIR's own programs of version 22. Where neither is
installed, what is shown is recorded. Next room: autograder/units/u10_lab_toy/checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.draw.plots.table import table
from course_lib.ir.types import type_of
from course_lib.mlir.upstream.engine import Job, engines, run_all
from course_lib.mlir.upstream.passes import Passed, passed, tools
from course_lib.mlir.upstream.pipelines import Pipeline
from course_lib.mlir.upstream.typed import by_dialect, typed
from course_lib.recorded import recorded

FILE = recorded(__file__, "torch_mlir.txt")
TORCH = FILE["relu(x @ w)"]
# A pass, what it does, and the options that one may need.
PASSES = {
    "buffer-deallocation-pipeline": ("memory that was allocated is freed", ""),
    "buffer-results-to-out-params": (
        "a function takes the memory of its results as further parameters",
        "modify-public-functions: also one that others may call; hoist-static-allocs: the results "
        "are computed in that memory, and not copied there at the end"),
    "canonicalize": ("each operation is rewritten to its normal form", ""),
    "convert-arith-to-llvm": ("operations of arith become LLVM's", ""),
    "convert-cf-to-llvm": ("branches become LLVM's", ""),
    "convert-func-to-llvm": ("functions, calls and returns become LLVM's", ""),
    "convert-linalg-to-affine-loops": ("linalg on buffers becomes affine loops", ""),
    "convert-linalg-to-loops": ("linalg on buffers becomes loops of scf", ""),
    "convert-scf-to-cf": ("loops become blocks and branches", ""),
    "cse": ("what is computed twice is computed once", ""),
    "eliminate-empty-tensors": ("a result is computed where it is needed", ""),
    "finalize-memref-to-llvm": ("a buffer becomes a pointer, sizes and strides", ""),
    "linalg-generalize-named-ops": ("linalg.matmul and others become linalg.generic", ""),
    "lower-affine": ("affine loops and indices become scf and arith", ""),
    "one-shot-bufferize": (
        "tensors become buffers",
        "bufferize-function-boundaries: also parameters and results; "
        "function-boundary-type-conversion=identity-layout-map: these lie in memory row after row"),
    "reconcile-unrealized-casts": (
        "pairs of builtin.unrealized_conversion_cast, there and back, disappear", ""),
}  # fmt: skip
NEEDED = "running MLIR's passes needs torch-mlir, or Debian's mlir-22-tools"


def passes_table() -> Any:
    """The passes that a pipeline may consist of."""
    return table([[name, *words] for name, words in PASSES.items()],
                 ["pass", "what it does", "options"])  # fmt: skip


def asked_for() -> int:
    """The bytes of the buffers that relu(x @ w) allocates once its tensors are buffers (recorded):
    elements of four bytes."""
    sizes = re.findall(r"memref\.alloc\(\).* : memref<(\d+)x(\d+)xf32>", FILE["bufferized"])
    return sum(4 * int(m) * int(n) for m, n in sizes)


def program() -> str:
    """What torch-mlir writes, in one module: relu(x @ w) as @main and, of other sizes, as @other;
    relu(x @ w + b) as @biased. A wrapper makes each a function that C can call."""
    sizes = {"4x16": "3x2", "4x8": "3x5", "8x16": "5x2"}
    other = re.sub(r"\d+x\d+(?=xf32)", lambda match: sizes[match[0]], TORCH)
    texts = {"main": TORCH, "other": other, "biased": FILE["relu(x @ w + b)"]}
    functions = (_function(text).replace("@main", f"@{name}") for name, text in texts.items())
    return f"module {{\n{''.join(functions)}}}\n"


def _function(text: str) -> str:
    """The function of a module, with the attribute that requests a wrapper."""
    body = text.strip().removeprefix("module {\n").removesuffix("}")
    return re.sub(r"^(  func.func .*) \{$", r"\1 attributes {llvm.emit_c_interface} {", body,
                  count=1, flags=re.MULTILINE)  # fmt: skip


@lru_cache(maxsize=64)
def after(pipeline: str, text: str = "") -> Passed:
    """The states of `text` (else of `program()`) on its way. ValueError if a pass is not in the
    table, or nothing is here that runs it. mlir-opt starts faster than torch-mlir, so it comes
    first here."""
    if not tools():
        raise ValueError(NEEDED)
    steps = tuple((name, "") for name in typed(pipeline, PASSES))
    return passed(text or program(), Pipeline("typed", steps), tools()[-1])


def level(pipeline: str) -> str:
    """What relu(x @ w) looks like after these passes, or why there is nothing to be seen."""
    try:
        done = after(pipeline, f"module {{\n{_function(TORCH)}}}\n")
    except ValueError as error:
        return f"Not shown: {error}."
    return done.trouble or done.states[-1].text


def levels_table(pipeline: str) -> Any:
    """For each pass of a pipeline: the lines after it, and the operations of each dialect. Without
    a tool, those of another pipeline, as recorded, whose passes are not named."""
    try:
        done = after(pipeline, f"module {{\n{_function(TORCH)}}}\n")
    except ValueError as error:
        if tools():
            return f"Not shown: {error}."
        rows, head = FILE.data("levels"), f"after the pass, {FILE.words}"
    else:
        rows, head = levels(done), f"after the pass, by {done.tool}"
    return table(rows, [head, "lines", "operations"], exact=["lines"])


def levels(done: Passed) -> list[list[Any]]:
    """The name of each pass, the lines after it, and the operations of each dialect."""
    rows: list[list[Any]] = []
    for name, text in done.states:
        kinds = ", ".join(f"{dialect} {count}" for dialect, count in by_dialect(text).most_common())
        rows.append([name.partition("{")[0] or "as it came", len(text.splitlines()), kinds])
    return rows


@lru_cache(maxsize=64)
def _machine_code(pipeline: str, calls: tuple[tuple[str, int], ...]) -> list[Any]:
    """The outcome of calls, each a function and the seed of its arrays."""
    text = after(pipeline).states[-1].text
    jobs = [Job(text, name, arrays(name, seed), [type_of(right(name, seed))], ())
            for name, seed in calls]  # fmt: skip
    return run_all(jobs)


def computed(pipeline: str, calls: Sequence[tuple[str, int]]) -> list[Any]:
    """What the machine code computes: an array for each call, or a sentence that says why not."""
    if not engines():
        raise ValueError(NEEDED)
    return [done if isinstance(done, str) else done[0]
            for done in _machine_code(pipeline, tuple(calls))]  # fmt: skip


def arrays(name: str, seed: int) -> list[np.ndarray]:
    """The parameters of a function: quarters, some negative; of an odd seed, one is NaN."""
    m, k, n = (3, 5, 2) if name == "other" else (4, 8, 16)
    rng = np.random.default_rng(seed)
    shapes = [(m, k), (k, n), *([(n,)] if name == "biased" else [])]
    given = [rng.integers(-9, 10, shape).astype("f4") / 4 for shape in shapes]
    if seed % 2:
        given[0].flat[rng.integers(m * k)] = np.nan
    return given


def right(name: str, seed: int) -> np.ndarray:
    """The result: negative numbers are 0, and NaN stays NaN."""
    x, w, *bias = arrays(name, seed)
    return np.maximum(x @ w + (bias[0] if bias else np.float32(0)), np.float32(0))


def runs(pipeline: str) -> str:
    """The first elements that the machine code of a pipeline computes, beside numpy's."""
    try:
        (got,) = computed(pipeline, [("main", 0)])
        return f"relu(x @ w) begins with {got[0, :4].tolist()}, numpy's {right('main', 0)[0, :4]}."
    except (ValueError, IndexError, TypeError) as error:
        return f"Not run: {error}."
