"""The innermost loops of the main kernels keep all that they compute with in vector registers.

    vmovups %ymm7, 96(%rsp)      a spill: in a loop that multiplies, nothing looks like this

The code is made for two fixed processors, with 16 and with 32 registers, whatever the one at hand.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from llvmlite import ir

from course_lib.cost.machine import AVX512, Machine
from course_lib.ir.graph.build import inp, matmul
from course_lib.ir.graph.node import apply
from course_lib.ir.loops.nest import Kernel
from course_lib.llvm.emit import emit_kernel
from course_lib.llvm.inspect.fixed import TRIPLE, assembly, optimized
from course_lib.lower.lower import lower, lower_node
from course_lib.models.traced import traced
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.schedule.candidates import Tile
from course_lib.schedule.choose import cheapest, choose, run_in_tiles
from course_lib.schedule.reduction import Reduction, reduction, uses
from course_lib.schedule.schedule import distinct
from course_lib.schedule.script import Script

MACHINES = {"x86-64-v3": Machine("16 registers", 32, 16), "x86-64-v4": AVX512}
WEIGHTS = frozenset({"x1"})
IMAGES = ("nchw", "ohwi", "nhwc")
PLAIN = {
    "product": matmul(inp("x", "f32[128,256]"), inp("w", "f32[256,768]")),
    "product of one row": matmul(inp("x", "f32[1,784]"), inp("w", "f32[784,512]")),
    "product in blocks": matmul(inp("x", "f32[512,512]"), inp("w", "f32[512,512]")),
    "first layer of ResNet-18": apply(
        "conv_in_layout", inp("x", "f32[1,3,230,230]"), inp("w", "f32[64,7,7,3]"),
        strides=(2, 2), layouts=IMAGES),
    "3x3 convolution with prefetched weights": apply(
        "conv_in_layout", inp("x", "f32[1,9,9,128]"), inp("w", "f32[128,3,3,128]"),
        layouts=("nhwc", "ohwi", "nhwc")),
    "3x3 convolution": apply(
        "conv_in_layout", inp("x", "f32[1,58,58,64]"), inp("w", "f32[64,3,3,64]"),
        layouts=("nhwc", "ohwi", "nhwc")),
}  # fmt: skip


def code(kernel: Kernel, cpu: str) -> list[str]:
    module = ir.Module(kernel.name)
    module.triple = TRIPLE
    emit_kernel(kernel, module)
    return assembly(optimized(str(module), cpu), cpu).splitlines()


def loops_that_multiply(lines: list[str]) -> Iterator[list[str]]:
    """The instructions of each innermost loop with a multiply-add: from its label to the jump."""
    labels: dict[str, int] = {}
    for number, line in enumerate(lines):
        if label := re.match(r"(\.L\w+):", line):
            labels = {label[1]: number}  # an earlier one has a loop inside
        jump = re.match(r"\tj\w+\t(\.L\w+)", line)
        if jump and jump[1] in labels:
            body = [each for each in lines[labels[jump[1]] : number] if re.match(r"\tv", each)]
            if any(re.match(r"\tvfn?m(add|sub)", each) for each in body):
                yield body


def on_the_stack(loop: list[str]) -> list[str]:
    return [line for line in loop if re.search(r"\(%rsp\b", line)]


def spills(kernel: Kernel, cpu: str) -> list[str]:
    loops = list(loops_that_multiply(code(kernel, cpu)))
    assert loops, f"@{kernel.name} has no loop that multiplies"
    return [line for loop in loops for line in on_the_stack(loop)]


@pytest.mark.parametrize("cpu", MACHINES)
@pytest.mark.parametrize("name", PLAIN)
def test_no_spill_in_products_and_convolutions(name, cpu):
    kernel = lower_node(PLAIN[name], "k")
    assert kernel is not None
    constants = frozenset() if name == "product in blocks" else WEIGHTS
    chosen = choose(kernel, MACHINES[cpu], constants)
    assert spills(chosen, cpu) == []
    assert bool(chosen.prefetched) == ("prefetched" in name)


@pytest.fixture(scope="module")
def kernels():
    """The kernels of MobileNetV2 that multiply, and which of their operands are constants."""
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    program = lower(run_passes(traced("mobilenet_v2"), DEFAULT))
    found = [(kernel, fixed, reduction(kernel)) for kernel, fixed in distinct(program)]
    return [(kernel, fixed, of) for kernel, fixed, of in found if of and len(of.reads) > 1]


def depthwise(of: Reduction) -> bool:
    """Does each channel of the result come from one channel of the image?"""
    return all(uses(read, "oc") for read in of.reads)


@pytest.mark.parametrize("cpu", MACHINES)
def test_no_spill_in_any_kernel_of_mobilenet(kernels, cpu):
    """Every depthwise convolution, and of the other kernels one for each tile."""
    one_of = {}
    for kernel, fixed, of in kernels:
        kind = kernel.name if depthwise(of) else cheapest(of, MACHINES[cpu], fixed)
        one_of.setdefault(kind, (kernel, fixed))
    assert len(one_of) > 12
    found = {kernel.name: spills(choose(kernel, MACHINES[cpu], fixed), cpu)
             for kernel, fixed in one_of.values()}  # fmt: skip
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_tile_that_is_too_large_is_found_to_spill(kernels):
    """Eight windows down a column: nine weights and six shared vectors leave one register."""
    kernel = next(k for k, _, of in kernels if depthwise(of) and of.extent("o0") == 56)
    script = Script(kernel)
    run_in_tiles(script, Tile(("oc", 8), ("o0", 8), ("x1", 3)))
    assert spills(script.kernel, "x86-64-v3")
