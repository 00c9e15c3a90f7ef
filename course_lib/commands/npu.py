"""`python -m course_lib npu`: a product of matrices, at any stage of its way to the chip.

    python -m course_lib npu -m 197 -k 768 -n 768                     ->  clocks, operations, bytes
    python -m course_lib npu -m 9 -k 8 -n 5 --preset teaching --emit tile
    python -m course_lib npu some.mlir --passes tile,double_buffer
    python -m course_lib npu -m 100 -k 300 -n 170 --without double_buffer
    python -m course_lib npu --forms dma_load             ->  one operation in xDSL, ODS, IRDL

It needs the package xdsl. Next room: `mlir/npu/example.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.product import matrix
from course_lib.accelerator.compile.search import choose_tile, clocks
from course_lib.commands.infra.result import Result
from course_lib.files import read_text
from course_lib.mlir.npu.example import linalg_text
from course_lib.packages import missing

HELP = "a matrix product in the NPU dialect, at any stage"

STAGES = (
    "linalg", "product", "tile", "double_buffer", "unroll", "keep", "sums", "ahead", "asm", "run",
)  # fmt: skip
MISSING = missing("xdsl")


def arguments(sub: ArgumentParser) -> None:
    """Add what this command understands."""
    sub.add_argument("file", metavar="FILE", nargs="?", help="a program: linalg, or NPU dialect")
    for name, what in (("m", "rows of x"), ("k", "its columns"), ("n", "columns of w")):
        sub.add_argument(f"-{name}", type=int, metavar=name.upper(), help=f"{what}, without a FILE")
    sub.add_argument("--relu", action="store_true", help="behind the product, without a FILE")
    sub.add_argument("--sums", action="store_true", help="no output pipeline: int32 results")
    sub.add_argument("--preset", choices=PRESETS, help="which chip (the one that FILE names, npu)")
    sub.add_argument("--set", metavar="NAME=N", nargs="+", default=[],
                     help="other numbers for the chip, such as queue=4")  # fmt: skip
    sub.add_argument("--emit", choices=STAGES, default="run", metavar="STAGE",
                     help=f"one of {', '.join(STAGES)} (run)")  # fmt: skip
    sub.add_argument("--passes", metavar="NAME,...", help="these passes only, in this order")
    sub.add_argument("--forms", metavar="OP", help="an operation in xDSL, in ODS and C++, in IRDL")
    sub.add_argument("--without", metavar="NAME,...", default="", help="leave these passes out")


def npu(options: Namespace) -> Result:
    """The program at the stage that was asked for; behind `run`, clocks, operations and bytes."""
    file, text = ("", "") if options.forms else _program(options)
    chip = _chip(options)
    try:
        from course_lib.mlir.npu.module import written  # xdsl need not be installed
        from course_lib.mlir.npu.ods.forms import page
        from course_lib.mlir.npu.stages import apply, compile_npu
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "xdsl":
            raise
        raise ValueError(MISSING) from None
    if options.forms:
        output = page(options.forms)
        return Result(output, {"stage": "forms", "text": output})
    if options.passes:
        output = written(apply(options.passes.split(","), text, chip, file))
        return Result(output, {"stage": options.passes, "text": output})
    without = [name for name in options.without.split(",") if name]
    compiled = compile_npu(text, chip, file, options.emit, without)
    if options.emit != "run":
        output = compiled.text(options.emit).rstrip("\n")
        return Result(output, {"stage": options.emit, "text": output})
    return _ran(compiled)


def _program(options: Namespace) -> tuple[str, str]:
    """The name of the program's file, and its text."""
    sizes = options.m, options.k, options.n
    if (options.file is None) == (None in sizes):
        raise ValueError("the program is a FILE, or a product of sizes -m, -k and -n")
    if options.file is not None:
        return options.file, read_text(options.file)
    if min(sizes) < 1:
        raise ValueError(f"sizes are at least 1, got {sizes}")
    low = 0 if options.relu else -128
    return "dense.mlir", linalg_text(*sizes, low=low, pipeline=not options.sums)


def _chip(options: Namespace) -> Chip | None:
    """The chip that was asked for; None: whichever the program names."""
    if options.preset is None and not options.set:
        return None
    values = {}
    for given in options.set:
        name, equals, number = given.partition("=")
        if not equals or not number.isdecimal():
            raise ValueError(f"--set takes NAME=N, such as queue=4; got {given!r}")
        values[name] = int(number)
    try:
        return replace(PRESETS[options.preset or "npu"], **values)
    except TypeError:
        raise ValueError(f"a chip has no {' or '.join(values)}") from None


def _ran(compiled) -> Result:
    """Run it on random operands, compare with the dialect's own meaning, and count."""
    from course_lib.mlir.npu.counts import commands, least, moved  # xDSL need not be installed
    from course_lib.mlir.npu.dialect import ProductOp, shape
    from course_lib.mlir.npu.npu_interp import interpret

    product = next((op for op in compiled.modules["product"].walk() if isinstance(op, ProductOp)),
                   None)  # fmt: skip
    if product is None:
        raise ValueError("this program has no npu.product: look at it with --emit asm")
    (m, k), (_, n) = shape(product.x), shape(product.w)
    operands = _random(m, k, n, product.params is not None)
    got, run = compiled.run(*operands)
    wanted = compiled.arrays(*operands)
    interpret(compiled.modules["product"], wanted)
    if not np.array_equal(got, wanted[-1]):
        raise ValueError("the chip computes something else than the product: a pass is wrong")
    ops, bytes = commands(compiled.modules["ahead"]), moved(compiled.modules["ahead"])
    once = least(product)
    chosen = matrix(m, k, n)
    tile = choose_tile(chosen, compiled.chip)
    theirs = clocks(chosen, tile, compiled.chip) if product.params is not None else None
    lines = [
        f"{m}x{k} times {k}x{n} on {compiled.chip.name}, in tiles of {tile}",
        f"{run.total:,} clocks"
        + (f'; {theirs:,} of target="systolic", {run.total / theirs:.3f}' if theirs else ""),
        f"{len(run.program):,} instructions from "
        + ", ".join(f"{count:,} {name}" for name, count in ops.most_common()),
        f"{sum(bytes.values()):,} bytes moved, at least {sum(once.values()):,}: "
        + ", ".join(f"{name} {bytes[name] / once[name]:.2f} times" for name in once),
    ]
    data = {"clocks": run.total, "systolic_clocks": theirs, "commands": dict(ops),
            "bytes": bytes, "least_bytes": once, "instructions": len(run.program)}  # fmt: skip
    return Result("\n".join(lines), {"stage": "run", "text": "\n".join(lines), **data})


def _random(m: int, k: int, n: int, pipeline: bool) -> list[np.ndarray]:
    make = np.random.default_rng(0)
    x, w = (make.integers(-128, 128, size, np.int8) for size in ((m, k), (k, n)))
    if not pipeline:
        return [x, w]
    bias = make.integers(-5000, 5000, n, np.int32)
    return [x, w, bias, (make.random(n) / 64 / k**0.5).astype(np.float32)]
