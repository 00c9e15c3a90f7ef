"""The programs of unit 17 in tinygrad, on three devices, and the same question in other compilers.

    opening()            what tinygrad counts, with a store in between and without
    counted(bounds)      three such counts with other bounds, and where they differ from tinygrad's
    tried(narrowed, ...) what a program of stages computes for one number, with the rule and without
    share(on)            a small perceptron on our chip, with the rule of the exercise or without
    devices_table()      one program on three devices
    systems_table()      four compilers asked for the bounds of a cast

TVM is asked in a process of its own where it is installed, else its answer is recorded. What needs
tinygrad or llvmlite is imported where it is used. Next room: pictures.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.compiler import read
from course_lib.draw.plots.table import table
from course_lib.passes.quantize.to_int8 import whole
from course_lib.plugins.staged import read_staged, run_staged
from course_lib.recorded import recorded
from lessons.bill import bill_of
from lessons.u17.boundaries import count
from lessons.u17.rows import asked

BY_TVM, BY_INDUCTOR = (recorded(__file__, f"{tool}.txt") for tool in ("tvm", "inductor"))
# TVM's version, the bounds of int8(x) for a uint8, how many of 256 bytes have 2 * int8(x) + 5 < 0,
# and how many of those numbers are below 0 if they are stored.
TVM: list[Any] = BY_TVM.data("answers")
# The count by PyTorch's Inductor, whose generated C++ keeps the comparison.
INDUCTOR = int(BY_INDUCTOR["count"])
ASK_TVM = """
import json, numpy, tvm
from tvm import sym, te, tirx
bound = sym.Analyzer().const_int_bound(tirx.Var("x", "uint8").astype("int8"))
x = te.placeholder((256,), "uint8", name="x")
number = lambda i: x[i].astype("int8").astype("int32") * 2 + 5
below = te.compute((256,), lambda i: (number(i) < 0).astype("int32"), name="below")
stored = te.compute((256,), number, name="stored")
found = []
for result in (below, stored):
    code = tvm.compile(te.create_prim_func([x, result]), target="llvm")
    given = tvm.runtime.tensor(numpy.arange(256, dtype=numpy.uint8))
    taken = tvm.runtime.tensor(numpy.zeros(256, numpy.int32))
    code(given, taken)
    found.append(taken.numpy())
counts = [int(found[0].sum()), int((found[1] < 0).sum())]
print(json.dumps([tvm.__version__, int(bound.min_value), int(bound.max_value), *counts]))
"""
LLVM_TEXT = """
define i1 @below(i8 %x) {
  %a = sext i8 %x to i32
  %b = mul i32 %a, 2
  %c = add i32 %b, 5
  %d = icmp slt i32 %c, 0
  ret i1 %d
}
define i32 @extended(i8 %x) {
  %a = sext i8 %x to i32
  ret i32 %a
}
"""


def run(make: Callable[[], Any]) -> Any:
    """The value of a tensor of tinygrad on our LLVM's device, made from scratch."""
    from course_lib.plugins.tinygrad.jit import llvm_device
    from course_lib.plugins.tinygrad.session import session

    with session(llvm_device(), SCACHE=0):
        return make().numpy()


def below(stored: bool = False) -> Any:
    """How many of 256 bytes are below 0, read as signed numbers: 128, says numpy."""
    from tinygrad.tensor import Tensor

    x = Tensor(np.arange(256, dtype=np.uint8)).realize().cast("int8")
    return ((x.contiguous() if stored else x) < 0).cast("int32").sum()


def overflown() -> Any:
    """How many of 256 bytes x have x + 10 < 5, in bytes: 5, says numpy."""
    from tinygrad.tensor import Tensor

    return (Tensor(np.arange(256, dtype=np.uint8)).realize() + 10 < 5).cast("int32").sum()


def opening() -> str:
    """How many of 256 bytes tinygrad counts."""
    right = int((np.arange(256, dtype=np.uint8).view(np.int8) < 0).sum())
    stored, not_stored = (int(run(lambda one=one: below(one))) for one in (True, False))
    return (f"numpy:                                        {right}\n"
            f"tinygrad 0.14.0, the cast stored in between:  {stored}\n"
            f"tinygrad 0.14.0:                              {not_stored}")  # fmt: skip


def counted(bounds: Callable[..., Any]) -> Any:
    """Three counts with tinygrad's bounds and with these."""
    rows = []
    for shown, make, right in (("int8(x) < 0", below, 128), ("2 · int8(x) + 5 < 0", count, 126),
                               ("x + 10 < 5", overflown, 5)):  # fmt: skip
        before = int(run(make))
        with asked(bounds) as differences:
            after = int(run(make))
        changed = sorted({f"{op}: {own[0]} .. {own[1]} became {new[0]} .. {new[1]}"
                          for op, own, new in differences})  # fmt: skip
        rows.append([shown, right, before, after, "; ".join(changed) or "none"])
    heads = ["bytes x with", "numpy", "tinygrad 0.14.0", "with your bounds", "bounds that changed"]
    return table(rows, heads, exact=heads[1:4])


def tried(narrowed: Callable[[str], str], program: str, x: int) -> str:
    """The value of a program like that of section 4 if every number it reads is x."""
    values = []
    for lines in map(read_staged, (program, narrowed(program))):
        params = [line for line in lines if line.op == "param"]
        given = {line.name: np.full(line.size, x, line.kind) for line in params}
        values.append(run_staged(lines, given).ravel()[0])
    return f"without the rule {values[0]}, with it {values[1]}"


@cache
def _quantized() -> tuple[Any, list[np.ndarray]]:
    """A perceptron of three layers in whole numbers, and 16 rows of inputs."""
    import torch

    torch.manual_seed(0)
    layers = [layer for a, b in pairwise((64, 64, 32, 16))
              for layer in (torch.nn.Linear(a, b), torch.nn.ReLU())]  # fmt: skip
    model = torch.nn.Sequential(*layers[:-1]).eval()
    inputs = [np.random.default_rng(0).standard_normal((16, 64)).astype(np.float32)]
    return whole(read(model, inputs), [inputs]), inputs


def share(on: bool) -> Any:
    """tinygrad's report of the perceptron on the teaching chip."""
    from course_lib.plugins.tinygrad.door import plug

    graph, inputs = _quantized()
    return plug(graph, inputs, PRESETS["teaching"], rule=on)[1]


def share_table() -> Any:
    """The perceptron without the rule that is plugged in, and with it."""
    reports = {"without your rule": share(False), "with it": share(True)}
    rows = [[name, round(100 * report.macs_share), report.subgraphs, report.cycles]
            for name, report in reports.items()]  # fmt: skip
    heads = ["tinygrad", "products on the chip (%)", "kernels that use it", "clocks of the chip"]
    return table(rows, heads, exact=heads[1:])


def devices_table() -> Any:
    """relu(a @ b) of whole numbers on tinygrad's interpreter, our LLVM and our chip."""
    from course_lib.plugins.tinygrad.device import chip_device
    from course_lib.plugins.tinygrad.jit import llvm_device

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (8, 8), np.int8) for _ in range(2))
    wanted = np.maximum(a.astype(np.int32) @ b.astype(np.int32), 0)
    rows = []
    for name, device in (
        ("PYTHON, tinygrad's own interpreter", "PYTHON"),
        ("our LLVM", llvm_device()),
        ("our 4 × 4 chip", chip_device(PRESETS["teaching"])),
    ):
        opts, lines, value = _on(device, a, b)
        rows.append([name, opts, lines, "yes" if np.array_equal(value, wanted) else "no"])
    heads = ["device", "choices for the kernel", "lines of LINEAR", "numbers as numpy's"]
    return table(rows, heads, exact=["lines of LINEAR"])


def _on(device: str, a: np.ndarray, b: np.ndarray) -> tuple[str, int, np.ndarray]:
    from course_lib.plugins.tinygrad.session import session

    with session(device, SCACHE=0):
        from tinygrad.codegen import to_program
        from tinygrad.device import Device
        from tinygrad.tensor import Tensor

        x, y = (Tensor(one).realize() for one in (a, b))

        def product() -> Any:
            return (x.cast("int32") @ y.cast("int32")).relu()

        kernel = product().schedule_linear().src[-1].src[0]
        program = to_program(kernel, Device[device].renderer)
        value = product().numpy()
    sink, linear = program.src[0], program.src[1]
    opts = [f"{o.op.name}({', '.join(str(w) for w in (o.axis, o.arg) if w is not None)})"
            for o in sink.arg.applied_opts]  # fmt: skip
    return ", ".join(opts) or "none", len(linear.src), value


def tvms() -> tuple[list[Any], str]:
    """What TVM's analyzer says, and whether it was asked now."""
    if find_spec("tvm") is not None:
        command = [sys.executable, "-c", ASK_TVM]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if not done.returncode:
            answers = json.loads(done.stdout.splitlines()[-1])
            return answers, f"TVM {answers[0]}"
    return TVM, f"TVM, {BY_TVM.words}"


def tinygrads() -> str:
    """tinygrad's bounds of int8(x)."""
    from tinygrad.dtype import dtypes
    from tinygrad.uop.ops import UOp

    cast = UOp.variable("x", 0, 255, dtype=dtypes.uint8).cast(dtypes.int8)
    return f"{cast.vmin} .. {cast.vmax}"


def inductors() -> str:
    """The bounds that PyTorch's Inductor gives a cast from a byte to int8."""
    import torch
    from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis, ValueRanges

    bounds = SymPyValueRangeAnalysis.to_dtype(ValueRanges(0, 255), torch.int8, torch.uint8)
    return "unknown" if bounds == ValueRanges.unknown_int() else f"{bounds.lower} .. {bounds.upper}"


def llvms() -> tuple[str, str, str]:
    """LLVM's version, its bounds of the byte after the extension, and what -O3 makes of the
    comparison."""
    from llvmlite import binding

    from course_lib.llvm.inspect.fixed import optimized

    text = optimized(LLVM_TEXT)
    version = ".".join(map(str, binding.llvm_version_info))
    compared = re.search(r"icmp slt i8 %\w+, (-?\d+)", text)
    between = re.search(r"range\(i32 (-?\d+), (-?\d+)\) i32 @extended", text)
    bounds = f"{between[1]} .. {int(between[2]) - 1}" if between else "not shown"
    return version, bounds, f"makes x < {compared[1]} of it" if compared else "keeps it"


@cache
def _systems() -> list[list[str]]:
    """Each system, its bounds of a byte that is read as a signed number, and what it counts."""
    import torch

    (_, low, high, counted_, _), tvm = tvms()
    version, extended, compared = llvms()
    torchs = torch.__version__.split("+")[0]
    return [
        ["tinygrad 0.14.0", tinygrads(), f"counts {int(run(count))}"],
        [tvm, f"{low} .. {high}", f"counts {counted_}"],
        [f"Inductor, PyTorch {torchs}", inductors(), f"counts {INDUCTOR}, {BY_INDUCTOR.words}"],
        [f"LLVM {version}, -O3", extended, compared],
    ]


def systems_table() -> Any:
    """What each system says of a byte x that is read as a signed number, and of 2x + 5 < 0."""
    return table(_systems(), ["system", "bounds of int8(x)", "2 · int8(x) + 5 < 0"])


def with_wrong_bounds() -> int:
    """How many of them leave out a value that such a byte can have."""
    ends = [[int(end) for end in re.findall(r"-?\d+", bounds)] for _, bounds, _ in _systems()]
    return sum(len(pair) == 2 and (pair[0] > -128 or pair[1] < 127) for pair in ends)


def bill(bounds: Callable[..., Any]) -> Any:
    """What the two pieces of the unit changed."""
    with asked(bounds):
        after = int(run(below))
    off, on = share(False), share(True)
    rows = [
        ["bytes x with int8(x) < 0", "bytes", int(run(below)), after, 128],
        ["a quantized perceptron", "% of products on the chip", round(100 * off.macs_share),
         round(100 * on.macs_share), 100],
    ]  # fmt: skip
    heads = ["program", "what is counted", "tinygrad 0.14.0", "with yours", "right, or best known"]
    return bill_of(rows, heads)
