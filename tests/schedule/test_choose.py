"""The tiles that a kernel could have, what each costs, and the one that is taken.

every candidate can be applied, and computes what the textbook loops compute
"""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.cost.machine import Machine
from course_lib.cost.tile import filled, instructions, waiting
from course_lib.cost.work import operations
from course_lib.ir.graph.build import conv, inp, matmul
from course_lib.ir.graph.node import apply
from course_lib.ir.graph.recurrence import scan
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel, Prefetched
from course_lib.ir.loops.parse import parse_kernel
from course_lib.lower.lower import lower_node
from course_lib.schedule.candidates import (
    Tile,
    alive,
    candidates,
    shares,
    unroll_factors,
    widths,
)
from course_lib.schedule.choose import cheapest, choose, run_in_tiles, schedule_for
from course_lib.schedule.price import REST, SECOND, price
from course_lib.schedule.reduction import nests, reduction
from course_lib.schedule.schedule import packed
from course_lib.schedule.script import Script

SMALL = Machine("small", vector_bytes=16, registers=12)  # 4 lanes of f32
WEIGHTS = frozenset({"x1"})
KERNELS = {
    "product": matmul(inp("x", "f32[6,5]"), inp("w", "f32[5,8]")),
    "product with odd sizes": matmul(inp("x", "f32[7,3]"), inp("w", "f32[3,10]")),
    "transposed weights": matmul(inp("x", "f32[4,3]"), inp("w", "f32[3,8]")),
    "convolution": conv(inp("x", "f32[1,3,6,6]"), inp("w", "f32[8,3,3,3]")),
    "strided": conv(inp("x", "f32[1,2,7,9]"), inp("w", "f32[4,2,3,3]"), strides=(2, 2)),
}


def lowered(name):
    kernel = lower_node(KERNELS[name], "k")
    assert kernel is not None
    return kernel


@pytest.mark.parametrize("name", KERNELS)
def test_every_candidate_can_be_applied_and_computes_the_same(name):
    kernel = lowered(name)
    random = np.random.default_rng(0)
    arrays = {b.name: random.standard_normal(b.type.dims).astype(np.float32) for b in kernel.params}
    run_kernel(kernel, arrays)
    of = reduction(kernel)
    assert of is not None
    tiles = list(candidates(of, SMALL, WEIGHTS))
    assert len(tiles) > 3
    for tile in tiles:
        script = Script(kernel)
        run_in_tiles(script, tile)
        tiled = script.kernel
        given = dict(arrays)
        for packing in tiled.packed:
            given[packing.param] = packed(given[packing.param], packing)
        given["out"] = np.full(kernel.out.type.dims, np.nan, np.float32)
        run_kernel(tiled, given)
        np.testing.assert_allclose(given["out"], arrays["out"], rtol=1e-5, err_msg=str(tile))


@pytest.mark.parametrize("name", KERNELS)
def test_no_candidate_is_cheaper_than_the_one_that_is_taken(name):
    of = reduction(lowered(name))
    assert of is not None
    taken = cheapest(of, SMALL, WEIGHTS)
    assert taken is not None
    every = [price(of, tile, SMALL) for tile in candidates(of, SMALL, WEIGHTS)]
    assert price(of, taken, SMALL) == min(every)


def test_accumulators_of_a_candidate_fit_the_registers():
    of = reduction(lowered("convolution"))
    assert of is not None
    for tile in candidates(of, SMALL, WEIGHTS):
        vectors = -(-tile.lane[1] // 4)
        assert vectors * (tile.unroll[1] if tile.unroll else 1) <= SMALL.registers - 4


def test_only_constants_are_put_into_blocks():
    of = reduction(lowered("convolution"))
    assert of is not None
    assert all(tile.pack is None for tile in candidates(of, SMALL, frozenset()))
    assert Tile(("oc", 8), ("o1", 4), ("x1", 0)) in set(candidates(of, SMALL, WEIGHTS))


TWO_SUMS = """
kernel @both(x: f32[8,4], out: f32[8]) {
  for i in 0..8 {
    local a: f32[]
    local b: f32[]
    a[] = 0.0
    b[] = 0.0
    for r in 0..4 {
      a[] += x[i, r]
      b[] max= x[i, r]
    }
    out[i] = a[] / b[]
  }
}
"""


def test_kernels_with_several_reductions_or_none_have_no_tile():
    elementwise = lower_node(inp("x", "f32[4]") + 1.0, "k")
    assert elementwise is not None
    for kernel in (parse_kernel(TWO_SUMS), elementwise):
        assert reduction(kernel) is None
    assert cheapest(None, SMALL, WEIGHTS) is None


def test_a_tile_without_a_rest_is_preferred_to_a_slightly_larger_one():
    of = reduction(lowered("product"))
    assert of is not None
    even, ragged = Tile(("n", 4), ("m", 6)), Tile(("n", 4), ("m", 4))
    assert price(of, even, SMALL) < price(of, ragged, SMALL)


def test_full_vectors_cost_less_than_vectors_with_idle_lanes():
    assert filled(32, 16, 8) == (8.0, 2)
    assert filled(20, 16, 16) == (10.0, 1)
    assert instructions(16, 1, 4) < instructions(10, 1, 4)


def test_more_accumulators_mean_fewer_loads():
    assert instructions(16, 2, 14) < instructions(16, 1, 14) < instructions(16, 1, 1)
    assert instructions(16, 1, 4, vector_loads=2) > instructions(16, 1, 4)


def test_few_accumulators_wait_for_their_additions():
    assert waiting(2) == 2 * waiting(4) == 6
    assert waiting(8) / 16 < instructions(16, 2, 4), "eight sums do not wait"
    assert waiting(6) / 16 > instructions(16, 2, 3)


def test_shares_with_a_rest_that_is_a_tile():
    """The most there may be, whatever is left; and the most that leave half of it at least."""
    assert shares(14, 6) == [6, 5]  # 6 + 6 + 2, 5 + 5 + 4
    assert shares(7, 6) == [4]  # 4 + 3; one alone is no tile
    assert shares(28, 6) == [6]  # 6 + 6 + 6 + 6 + 4
    assert shares(197, 14) == [11]
    assert shares(12, 6) == []
    assert shares(5, 1) == shares(4, 4) == []


def test_widths_and_counts_name_even_shares_first():
    assert widths(64, 8) == [16, 8, 4]
    assert widths(20, 8) == [4]
    assert widths(7, 8) == [7]
    assert widths(1, 8) == []
    assert unroll_factors(12, 5) == [2, 3, 4, 5]
    assert unroll_factors(3, 5) == [3]


def test_vectors_lie_side_by_side_where_a_loop_repeats_a_product_of_one_row():
    """A product of one row has no rows to unroll; what a step of a loop reads is in a cache."""
    h, xs = inp("h", "f32[1,48]"), inp("xs", "f32[5,1,48]")
    r = inp("r", "f32[48,48]")
    step = scan(lambda s, x: s @ r + x, h, [xs])
    kernel = lower_node(step, "k")
    assert kernel is not None
    product = next(of for nest in nests(kernel) if (of := reduction(kernel, nest)))
    assert product.again
    assert cheapest(product, SMALL, frozenset(["x2"])) == Tile(("n", 8), ("n", 3), ("x2", 1))
    alone = lower_node(inp("x", "f32[1,48]") @ r, "k")
    assert alone is not None
    once = cheapest(reduction(alone), SMALL, frozenset(["x1"]))
    assert once is not None and once.unroll is None
    (packing,) = choose(kernel, SMALL, frozenset(["x2"])).packed
    assert packing.factor == 24


WINDOWS = """
kernel @depthwise(x: f32[16,16,32], w: f32[3,3,32], out: f32[14,14,32]) {
  for c in 0..32 {
    for y in 0..14 {
      for z in 0..14 {
        local acc: f32[]
        acc[] = 0.0
        for k in 0..3 {
          for l in 0..3 {
            acc[] += x[y + k, z + l, c] * w[k, l, c]
          }
        }
        out[y, z, c] = acc[]
      }
    }
  }
}
"""


def test_windows_share_what_they_read_with_their_neighbours():
    """Four windows of three rows span six rows: each is read 1.5 times, not three times."""
    of = reduction(parse_kernel(WINDOWS))
    assert of is not None
    assert of.taps == 9
    x = next(read for read in of.reads if read.buffer == "x")
    assert of.window(x, "y") == of.window(x, "z") == (1, 3)
    taken = cheapest(of, SMALL, frozenset())
    assert taken is not None and taken.unroll is not None
    assert taken.lane[0] == "c" and taken.unroll[0] == "y"
    alone, pair, seven = (
        price(of, Tile(("c", 4), unroll), SMALL) for unroll in (None, ("y", 2), ("y", 7))
    )
    assert alone > pair > seven
    assert seven < price(of, Tile(("c", 4), ("z", 7)), SMALL), "rows are fetched once for all"


def test_a_tile_too_large_to_be_written_out_shares_no_vectors():
    wide = parse_kernel(
        WINDOWS.replace("0..3 ", "0..5 ").replace("[3,3,", "[5,5,").replace("[16,16,", "[18,18,")
    )
    of = reduction(wide)
    assert of is not None
    three, seven = (price(of, Tile(("c", 4), ("y", n)), SMALL) for n in (3, 7))
    assert three < seven


def running_sum(shape: str, axis: int):
    kernel = lower_node(apply("cumsum", inp("x", shape), axis=axis), "k")
    assert kernel is not None
    return kernel


def test_a_running_sum_is_one_addition_for_each_element():
    for axis in (0, 1):
        assert operations(running_sum("f32[30,40]", axis)) == 30 * 40


def test_running_sums_down_the_columns_go_row_by_row():
    assert str(schedule_for(running_sum("f32[9,40]", 0), SMALL)) == "fission(i1)\n"
    blocks = ["split(i1, 1024)", "fission(i1i)"]
    wide = str(schedule_for(running_sum("f32[9,2048]", 0), SMALL)).splitlines()
    assert wide == [*blocks, "parallelize(i1o)"]
    ragged = str(schedule_for(running_sum("f32[9,2100]", 0), SMALL)).splitlines()
    assert ragged == [*blocks, "fission(i1t)"]
    assert str(schedule_for(running_sum("f32[9,40]", 1), SMALL)) == "parallelize(i0)\n"


def test_of_a_scatter_only_the_copy_runs_on_several_threads():
    table, where, rows = inp("x", "f32[8,4]"), inp("i", "i64[9,1]"), inp("u", "f32[9,4]")
    kernel = lower_node(apply("scatter_nd", table, where, rows, reduction="add"), "k")
    assert kernel is not None
    assert str(schedule_for(kernel, SMALL)) == "parallelize(i0)\n"


CHANNELS_LAST = """
kernel @depthwise(x: f32[29,29,32], w: f32[3,3,32], out: f32[14,14,32]) {
  for y in 0..14 {
    for z in 0..14 {
      for c in 0..32 {
        local acc: f32[]
        acc[] = 0.0
        for k in 0..3 {
          for l in 0..3 {
            acc[] += x[y + k, z + l, c] * w[k, l, c]
          }
        }
        out[y, z, c] = acc[]
      }
    }
  }
}
"""


@pytest.mark.parametrize(("stride", "row", "column"), [(1, 7, 2), (2, 5, 3)])
def test_a_tile_is_no_larger_than_what_its_windows_keep_in_registers(stride, row, column):
    """In 16 registers; of tiles that LLVM writes out."""
    text = CHANNELS_LAST.replace("y + k, z + l", f"{stride}*y + k, {stride}*z + l")
    of = reduction(parse_kernel(text))
    assert of is not None
    machine = Machine("16 registers", vector_bytes=32, registers=16)
    found = {tile.unroll for tile in candidates(of, machine) if tile.lane == ("c", 8)}
    for along, most in (("z", row), ("y", column)):
        assert alive(of, of.around[-1], 1, along, most) <= 16
        assert alive(of, of.around[-1], 1, along, most + 1) > 16
        assert max(n for var, n in filter(None, found) if var == along and 9 * n <= 96) == most


def test_one_result_after_the_other_is_what_a_rest_costs():
    of = reduction(parse_kernel(CHANNELS_LAST))
    assert of is not None
    alone, three, seven = (
        price(of, Tile(("c", 4), unroll), SMALL) for unroll in (None, ("y", 3), ("y", 7))
    )
    even = (14 * three - 2 * alone) / 12
    assert seven < even < three < alone


def convolution(channels: int, size: int) -> Kernel:
    """A 3x3 layer of ResNet-18, channels last."""
    image = inp("x", f"f32[1,{size + 2},{size + 2},{channels}]")
    weights, layouts = inp("w", f"f32[{channels},3,3,{channels}]"), ("nhwc", "ohwi", "nhwc")
    kernel = lower_node(apply("conv_in_layout", image, weights, layouts=layouts), "k")
    assert kernel is not None
    return kernel


MEGABYTE = Machine("", vector_bytes=64, registers=32, cache2=1 << 20)


@pytest.mark.parametrize(("channels", "size", "ahead"), [
    (64, 56, False),  # all weights stay in the second cache: 0.1 MB
    (128, 28, False),  # 0.6 MB
    (256, 14, True),  # 2.4 MB
    (512, 7, True),
    (256, 56, False),  # of 224 tiles one waits
    (512, 1, False),  # each weight is used once: one tile for each block
    (2048, 7, False),  # a block of 32 channels takes 2.4 MB: it does not stay until the next row
])  # fmt: skip
def test_weights_from_far_away_are_prefetched_where_they_are_used_again(channels, size, ahead):
    kernel = convolution(channels, size)
    asked = choose(kernel, MEGABYTE, WEIGHTS).prefetched
    assert asked == ((Prefetched("x1", "oco", "ic"),) if ahead else ())
    assert not choose(kernel, MEGABYTE).prefetched  # nor packed: they come with the call


SIXTEEN = Machine("16 registers", vector_bytes=32, registers=16)


def pixels(count: int, rest: int) -> Tile:
    return Tile(("oc", 16), ("o1", count), ("x1", 0), rest)


def test_what_is_left_over_is_priced_as_the_tile_that_it_is():
    """Rows of 14 pixels, two vectors of channels. On a Zen 4, 5 + 5 + 4 pixels reach 108 GFLOP/s,
    6 + 6 + 2 reach 100, and 79 if the last two come one after the other."""
    of = reduction(convolution(256, 14))
    assert of is not None and of.along == "oc"
    five, six, alone = (8 * price(of, pixels(*n), SIXTEEN) for n in ((5, 4), (6, 2), (6, 0)))
    assert [round(p, 2) for p in (five, six, alone)] == [1.77, 1.91, 1.89]
    assert cheapest(of, SIXTEEN, WEIGHTS) == pixels(5, 4)


def test_what_is_left_over_is_a_tile_of_its_own():
    found = []
    for tile in (pixels(4, 3), pixels(4, 0)):
        script = Script(convolution(16, 7))
        run_in_tiles(script, tile)
        found.append([str(b.type) for n, b in script.kernel.buffers.items() if n[:3] == "acc"])
    assert found == [["f32[4,16]", "f32[3,16]"], ["f32[4,16]", "f32[16]"]]


def test_of_the_outermost_loop_one_thread_has_what_is_left_over():
    kernel = lower_node(matmul(inp("x", "f32[128,64]"), inp("w", "f32[64,64]")), "k")
    of = reduction(kernel) if kernel else None
    assert of is not None
    tile = Tile(("n", 16), ("m", 6), ("x1", 1), 2)
    alone, both = (price(of, tile, replace(SIXTEEN, threads=n)) for n in (1, 2))
    assert both / alone == pytest.approx(REST / SECOND)
    assert [cheapest(of, replace(SIXTEEN, threads=n), WEIGHTS) for n in (1, 2)] == [
        tile, Tile(("n", 16), ("m", 4), ("x1", 1))
    ]  # fmt: skip


def test_lanes_that_lie_apart_in_the_result_have_no_second_tile():
    """They are turned on their way to memory, for which the unrolled loop has to be long."""
    kernel = lower_node(conv(inp("x", "f32[1,64,16,16]"), inp("w", "f32[64,64,3,3]")), "k")
    of = reduction(kernel) if kernel else None
    assert of is not None and of.along == "o1"
    assert not any(tile.rest for tile in candidates(of, SIXTEEN, WEIGHTS))
