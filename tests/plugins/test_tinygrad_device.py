"""Our chips as devices of tinygrad: `Tensor` code that knows nothing of them, exact values, and
counts that are the simulator's."""

import subprocess
import sys
from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.unit import MatrixUnit, TileWork, tile_program
from course_lib.accelerator.core.simulate import times

pytest.importorskip("tinygrad")

from tinygrad.codegen import to_program
from tinygrad.codegen.opt import OptOps
from tinygrad.device import Device
from tinygrad.helpers import TC_OPT
from tinygrad.tensor import Tensor

from course_lib.plugins.tinygrad.cores import tensor_core
from course_lib.plugins.tinygrad.device import chip_device
from course_lib.plugins.tinygrad.session import DEEP, session


def random(*shape, kind: type = np.int8, seed=0):
    info = np.iinfo(kind)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape, kind)


def multiply(a, b):
    """The product as somebody writes it who has never heard of our chip."""
    return (Tensor(a).cast("int32") @ Tensor(b).cast("int32")).numpy()


def exact(a, b):
    return a.astype(np.int64) @ b.astype(np.int64)


@pytest.mark.parametrize(
    ("name", "m", "k", "n"),
    [("teaching", 4, 4, 4), ("teaching", 5, 6, 7), ("teaching", 2, 17, 9), ("teaching", 16, 32, 24),
     ("npu", 32, 32, 32), ("npu", 33, 70, 100), ("npu", 9, 10, 11)],
)  # fmt: skip
def test_a_product_is_exact_and_in_tiles(name, m, k, n):
    a, b, tile = random(m, k), random(k, n, seed=1), PRESETS[name].rows
    with session(chip_device(PRESETS[name])) as launches:
        assert np.array_equal(multiply(a, b), exact(a, b))
    (launch,) = launches
    assert launch.tiles == ceil(m / tile) * ceil(k / tile) * ceil(n / tile)
    assert launch.macs == launch.tiles * tile**3 and launch.on_host == 0
    assert launch.cycles > launch.tiles * tile and launch.dram_bytes >= 4 * m * n


@settings(max_examples=settings().max_examples // 5)
@given(st.tuples(*[st.integers(2, 24)] * 3), st.integers(0, 99))
def test_any_sizes(sizes, seed):
    m, k, n = sizes
    a, b = random(m, k, seed=seed), random(k, n, seed=seed + 1)
    with session(chip_device(PRESETS["teaching"])) as launches:
        assert np.array_equal(multiply(a, b), exact(a, b))
    assert launches[-1].tiles > 0


def test_the_scheduler_itself_picks_the_tensor_core():
    with session(chip_device(PRESETS["teaching"])):
        c = Tensor(random(8, 8)).cast("int32") @ Tensor(random(8, 8)).cast("int32")
        kernel = c.schedule_linear().src[-1].src[0]
        program = to_program(kernel, Device["TEACHING"].renderer)
    (first, *_) = program.src[0].arg.applied_opts
    assert first.op is OptOps.TC
    assert "wmma i32[2]" in program.src[2].arg and "4x4x4,8,chip" in program.src[2].arg


def test_clocks_and_bytes_are_those_of_the_same_tiles_by_hand():
    """A product of one row of tiles by one column: three products, one tile of sums."""
    chip = PRESETS["teaching"]
    work = TileWork([[(0, 0), (1, 1), (2, 2)]], 3, 3)
    with session(chip_device(chip)) as launches:
        multiply(random(4, 12), random(12, 4))
    program = tile_program(work, chip)
    (launch,) = launches
    assert launch.cycles == times(program, chip).total
    assert launch.instructions == len(program)
    (ran,) = launch.programs
    assert [str(i) for i in ran] == [str(i) for i in program]
    assert launch.dram_bytes == 3 * 16 + 3 * 16 + 4 * 16


def test_a_second_run_of_a_kernel_counts_the_same_and_computes_anew():
    with session(chip_device(PRESETS["teaching"])) as launches:
        for seed in (0, 1):
            a, b = random(8, 8, seed=seed), random(8, 8, seed=seed + 2)
            assert np.array_equal(multiply(a, b), exact(a, b))
    first, second = launches
    assert (first.tiles, first.macs, first.cycles, first.dram_bytes) == (8, 512, 108, 384)
    assert (first.kernel, first.cycles, first.tiles) == (second.kernel, second.cycles, second.tiles)


def test_what_follows_a_product_runs_on_the_lanes():
    a, b, bias = random(6, 9), random(9, 5), random(5, kind=np.int16).astype(np.int32)
    with session(chip_device(PRESETS["teaching"])) as launches:
        sums = Tensor(a).cast("int32") @ Tensor(b).cast("int32") + Tensor(bias)
        got = (sums.relu() >> 4).numpy()
    assert np.array_equal(got, np.maximum(exact(a, b) + bias, 0) >> 4)
    assert [launch.tiles for launch in launches] == [12]


def test_several_products_and_a_convolution():
    a, b = random(3, 4, 8), random(3, 8, 4)
    x, w = random(1, 4, 6, 6), random(4, 4, 3, 3)
    with session(chip_device(PRESETS["teaching"])) as launches:
        assert np.array_equal(multiply(a, b), exact(a, b))
        y = Tensor(x).cast("int32").conv2d(Tensor(w).cast("int32"), padding=1).numpy()
    padded = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    assert np.array_equal(y, np.einsum("ncyxhw,ochw->noyx", windows, w.astype(np.int64)))
    assert [launch.tiles > 0 for launch in launches] == [True, True]


def test_unsigned_bytes_less_a_zero_point_are_certain_to_fit():
    a, b = random(4, 8, kind=np.uint8), random(8, 4)
    with session(chip_device(PRESETS["teaching"])) as launches:
        got = ((Tensor(a).cast("int32") - 128) @ Tensor(b).cast("int32")).numpy()
    assert np.array_equal(got, (a.astype(np.int64) - 128) @ b)
    assert launches[-1].tiles == 2 and launches[-1].on_host == 0


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_what_need_not_fit_stays_with_the_lanes_and_wraps(kind):
    a, b = random(4, 8, kind=kind), random(8, 4, kind=kind)
    with session(chip_device(PRESETS["teaching"])) as launches:
        got = multiply(a, b)
    with np.errstate(over="ignore"):
        assert np.array_equal(got, (a.astype(np.int32) @ b.astype(np.int32)))
    assert launches[-1].tiles == 0 and launches[-1].on_host == 2


def test_a_product_of_int8_tensors_wraps_in_tinygrad_and_so_it_does_here():
    """Why the tensor core is declared for int32: tinygrad multiplies int8 by int8 to int8, and a
    tensor core of int8, such as tinygrad's for an RDNA3, would change what a program means."""
    a, b = random(16, 16), random(16, 16, seed=1)
    wrapped = (a[:, :, None] * b[None]).sum(1, dtype=np.int32)
    assert not np.array_equal(wrapped, exact(a, b))
    with session("PYTHON"):
        theirs = Tensor(a).matmul(Tensor(b), dtype="int32").numpy()
    with session(chip_device(PRESETS["teaching"])) as launches:
        ours = Tensor(a).matmul(Tensor(b), dtype="int32").numpy()
    with session("PYTHON::gfx1100"):
        changed = Tensor(a).matmul(Tensor(b), dtype="int32").numpy()
    assert np.array_equal(theirs, wrapped) and np.array_equal(ours, wrapped)
    assert np.array_equal(changed, exact(a, b))
    assert launches[-1].tiles == 0


def test_a_tensor_core_says_what_shape_it_cannot_have():
    with pytest.raises(ValueError, match="4x4x8"):
        tensor_core(MatrixUnit(4, 4, 8))
    with pytest.raises(ValueError, match="power of two"):
        chip_device(replace(PRESETS["teaching"], name="six", rows=6, cols=6))


def test_a_device_has_one_meaning():
    chip_device(PRESETS["teaching"])
    with pytest.raises(ValueError, match="TEACHING already"):
        chip_device(replace(PRESETS["teaching"], queue=5))
    with pytest.raises(ValueError, match="CUDA already"):
        chip_device(replace(PRESETS["teaching"], name="cuda"))
    with pytest.raises(ValueError, match="letters and digits"):
        chip_device(replace(PRESETS["teaching"], name="my chip"))


def test_a_session_leaves_nothing_behind():
    limit, before = sys.getrecursionlimit(), TC_OPT.value
    with session("PYTHON"):
        assert Device.DEFAULT == "PYTHON" and TC_OPT.value == 2
        assert sys.getrecursionlimit() >= DEEP
    assert (sys.getrecursionlimit(), TC_OPT.value) == (limit, before)


def test_importing_the_room_leaves_the_limit_of_recursion_as_it_is():
    code = """import sys; before = sys.getrecursionlimit(); import course_lib.plugins.tinygrad.door
print(before, sys.getrecursionlimit())"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = done.stdout.split()
    assert before == after
