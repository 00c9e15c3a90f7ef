"""Large matrix products in blocks: right for all sizes, taken where it pays, cut for the caches.

The caches of the machines here are made up, so that small products have all levels of blocks.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cost.blocks import PANEL, Blocks, blocks, price_of_blocks, price_of_misses, share
from course_lib.cost.machine import AVX512, Machine
from course_lib.ir.graph.build import inp, matmul, relu
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.loops.loop_interp import run_kernel, unwritten
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import loops
from course_lib.ir.types import f32
from course_lib.llvm.emit import MAX_STACK
from course_lib.lower.lower import lower_node
from course_lib.schedule.choose import choose
from course_lib.schedule.product import product, run_in_blocks
from course_lib.schedule.script import Script, parse_schedule

TINY = Machine("tiny", vector_bytes=16, registers=8, cache1=256, cache2=2048)


def lowered(node: Node) -> Kernel:
    kernel = lower_node(node, "k")
    assert kernel is not None
    return kernel


def of_sizes(m: int, n: int, k: int) -> Kernel:
    return lowered(matmul(inp("x", f"f32[{m},{k}]"), inp("w", f"f32[{k},{n}]")))


def outcome(kernel: Kernel) -> np.ndarray:
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.integers(-3, 4, b.type.dims).astype(np.float32) for b in kernel.params}
    arrays["out"] = unwritten(kernel.out.type)
    run_kernel(kernel, arrays)
    return arrays["out"]


def in_blocks(kernel: Kernel, by: Blocks) -> Script:
    of = product(kernel)
    assert of is not None
    script = Script(kernel)
    run_in_blocks(script, of, by)
    return script


SIZE = st.integers(2, 11)  # a loop of one iteration is not there


@given(m=SIZE, n=SIZE, k=SIZE, rows=st.integers(1, 4), lanes=st.sampled_from([2, 4, 8]),
       depth=st.integers(1, 6), columns=SIZE)  # fmt: skip
def test_any_blocks_of_any_product(
    m: int, n: int, k: int, rows: int, lanes: int, depth: int, columns: int
) -> None:
    kernel = of_sizes(m, n, k)
    script = in_blocks(kernel, Blocks(rows, lanes, depth, columns))
    np.testing.assert_array_equal(outcome(script.kernel), outcome(kernel), repr(script.kernel))
    assert parse_schedule(str(script.schedule)).apply(kernel) == script.kernel


BIASED = """
kernel @k(x0: f32[2,9,11], x1: f32[11,13], x2: f32[13], out: f32[2,9,13]) {
  for b in 0..2 { for m in 0..9 { for n in 0..13 {
    local acc: f32[]
    acc[] = 0.0
    for k in 0..11 { acc[] += x0[b, m, k] * x1[k, n] }
    out[b, m, n] = max(acc[] + x2[n], 0.0)
  } } }
}
"""
TRANSPOSED = """
kernel @k(x0: f32[11,9], x1: f32[13,11], out: f32[9,13]) {
  for m in 0..9 { for n in 0..13 {
    local acc: f32[]
    acc[] = 0.0
    for k in 0..11 { acc[] += x0[k, m] * x1[n, k] }
    out[m, n] = acc[]
  } }
}
"""


@pytest.mark.parametrize("text", [BIASED, TRANSPOSED])
def test_a_batch_what_follows_the_sum_and_operands_that_lie_otherwise(text: str) -> None:
    kernel = parse_kernel(text)
    after = in_blocks(kernel, Blocks(2, 4, 4, 8)).kernel
    np.testing.assert_array_equal(outcome(after), outcome(kernel))


@pytest.mark.parametrize(
    "kernel",
    [
        lowered(relu(inp("x", "f32[4]"))),
        lowered(apply("conv", inp("x", "f32[1,2,6,6]"), inp("w", "f32[4,2,3,3]"))),
        parse_kernel(BIASED.replace("x2[n]", "out[b, m, n]")),
        parse_kernel(BIASED.replace("acc[] +=", "acc[] max=")),
        parse_kernel(BIASED.replace("x1[k, n]", "x1[k, n] * x2[n]")),
        parse_kernel(BIASED.replace("x1[k, n]", "x0[0, 0, k]")),
    ],
)  # fmt: skip
def test_what_is_no_product(kernel: Kernel) -> None:
    assert product(kernel) is None


@pytest.mark.parametrize("sizes", [(33, 40, 29), (32, 32, 32), (17, 70, 31)])
def test_choose_takes_blocks_where_the_operands_exceed_the_cache(
    sizes: tuple[int, int, int],
) -> None:
    kernel = of_sizes(*sizes)
    after = choose(kernel, TINY)
    assert "x1_tile" in after.buffers
    np.testing.assert_array_equal(outcome(after), outcome(kernel))
    assert "x1_tile" not in choose(kernel, Machine("", 16, 8, cache1=1 << 20)).buffers
    assert "x1_tile" not in choose(kernel, TINY, frozenset({"x1"})).buffers, "packed beforehand"


@pytest.mark.parametrize(("size", "copied"), [(512, False), (768, False), (1024, True)])
def test_a_strip_is_copied_where_its_rows_would_push_each_other_out(
    size: int, copied: bool
) -> None:
    machine = Machine("", 64, 32, 1, cache1=48 << 10, cache2=2 << 20)
    after = choose(of_sizes(size, size, size), machine)
    assert ("x0_tile" in after.buffers) == copied
    lying_across = parse_kernel(TRANSPOSED)
    assert "x0_tile" in in_blocks(lying_across, Blocks(2, 4, 4, 8)).kernel.buffers


@pytest.mark.parametrize(("threads", "size"), [(1, 512), (2, 1000), (2, 1024), (4, 2048)])
def test_every_thread_has_a_panel(threads: int, size: int) -> None:
    machine = Machine("", 64, 32, threads, cache1=48 << 10, cache2=2 << 20)
    after = choose(of_sizes(size, size, size), machine)
    panels = [loop for loop in after.body if any(i.kind == "vector" for i in loops((loop,)))]
    parallel = [loop.extent for loop in loops(tuple(panels)) if loop.kind == "parallel"]
    assert parallel[0] and parallel[0] % threads == 0


@pytest.mark.parametrize(
    "machine", [AVX512, TINY, Machine(), Machine("", 64, 32, 2, 48 << 10, 2 << 20)]
)
@pytest.mark.parametrize(
    "sizes", [(1024, 1024, 1024), (2048, 2048, 2048), (77, 1023, 333), (9, 9, 9)]
)
def test_the_parts_fit_the_caches(machine: Machine, sizes: tuple[int, int, int]) -> None:
    by = blocks(sizes, f32, machine)
    lanes = machine.lanes(f32)
    assert by.rows * by.lanes // lanes <= machine.registers
    assert by.rows * by.depth * 4 <= machine.cache1 // 2
    panel = by.depth * -(-by.columns // by.lanes) * by.lanes * 4
    assert panel <= max(min(machine.cache2 // 2, PANEL), by.depth * by.lanes * 4)
    assert PANEL <= MAX_STACK


def test_shares_fill_the_whole_or_nearly() -> None:
    assert share(1024, 438) == 256
    assert share(1000, 438) == 250
    assert share(1023, 438) == 341
    assert share(1021, 438) == 341, "a prime: two of 341, and 339"
    assert share(100, 438) == 100


def test_a_width_is_filled_up_to_registers() -> None:
    by = Blocks(14, 32, 256, 1024)
    assert [by.filled(width) for width in (1, 3, 8, 15, 16, 17, 31, 32)] == [
        1, 4, 8, 16, 16, 32, 32, 32
    ]  # fmt: skip


def test_packing_pays_the_more_rows_there_are() -> None:
    by = blocks((4096, 1024, 1024), f32, AVX512)
    prices = [price_of_blocks((m, 1024, 1024), by, 16) for m in (14, 28, 1024)]
    assert prices == sorted(prices, reverse=True)
    assert price_of_misses(64, 32, 14, f32, AVX512) == 0.0, "stays in the first cache"
    assert price_of_misses(1024, 32, 14, f32, AVX512) > 0.0
