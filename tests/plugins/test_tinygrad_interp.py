"""Which tiles go to the matrix unit: as few as there are, and never one in another's place."""

import numpy as np
import pytest

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.unit import run_tiles, tile_program

pytest.importorskip("tinygrad")

from course_lib.plugins.tinygrad.listing import read_listing
from course_lib.plugins.tinygrad.uop_interp import Run

CHIP = PRESETS["teaching"]
# Lane l of 8 has numbers l and l + 8 of each tile: here twice, for two tiles of 4 x 4.
HEAD = """kernel k
%0 = param i32[16] 0
%1 = param i8[32] 1
%2 = param i8[16] 2
%3 = const i32 2
%4 = const i32 8
%5 = special i32 lidx0=7
%6 = const i32 0
%7 = register i8[2]
%8 = const i32 1
%9 = register i32[2]
%10 = index i8 %7 %6
%11 = index i8 %7 %8
%12 = index i32 %9 %6
%13 = index i32 %9 %8
store %12 %6
store %13 %6
%14 = add i32 %5 %4
%15 = index i8 %2 %5
%16 = load i8 %15
%17 = index i8 %2 %14
%18 = load i8 %17
%19 = cast i32 %16
%20 = cast i32 %18
%21 = stack i32[2] %19 %20
%22 = range i32 %3
%23 = const i32 16
%24 = mul i32 %22 %23
%25 = add i32 %24 %5
%26 = add i32 %24 %14
%27 = index i8 %1 %25
%28 = load i8 %27
%29 = index i8 %1 %26
%30 = load i8 %29
"""
THROUGH_REGISTERS = """store %10 %28
store %11 %30
%31 = load i8 %10
%32 = load i8 %11
"""
DIRECTLY = """%31 = add i8 %28 %34
%32 = add i8 %30 %34
"""
TAIL = """%35 = cast i32 %31
%36 = cast i32 %32
%37 = stack i32[2] %35 %36
%38 = load i32 %12
%39 = load i32 %13
%40 = stack i32[2] %38 %39
%41 = wmma i32[2] %37 %21 %40 4x4x4,8,chip
%42 = pick i32 %41 %6
%43 = pick i32 %41 %8
store %12 %42
store %13 %43
end %22
%44 = load i32 %12
%45 = load i32 %13
%46 = index i32 %0 %5
%47 = index i32 %0 %14
store %46 %44
store %47 %45
"""
ZERO = "%34 = const i8 0\n"


def execute(text, a, b):
    """The sums, and the pieces of work that the unit got."""
    done, c = [], np.zeros(64, np.uint8)

    def multiply(work, left, right):
        done.append(work)
        return run_tiles(tile_program(work, CHIP), work, CHIP, left, right)[0]

    lines = read_listing(text)[1]
    buffers = [c, *(x.ravel().view(np.uint8) for x in (a, b))]
    Run(lines, buffers, (1, 1, 1), (8, 1, 1), multiply).run()
    return c.view(np.int32).reshape(4, 4), done


def operands():
    rng = np.random.default_rng(0)
    return (rng.integers(-128, 128, (n, 4, 4), np.int8) for n in (2, 1))


@pytest.mark.parametrize("way", [ZERO + DIRECTLY, THROUGH_REGISTERS])
def test_sums_stay_in_the_unit_over_a_loop(way):
    """Two tiles of a, each times the same tile of b. Through a register, too, the second tile is
    another one than the first, although the line that loads it is the same."""
    a, b = operands()
    got, (work,) = execute(HEAD + way + TAIL, a, b)
    assert np.array_equal(got, sum(a.astype(np.int32)) @ b[0].astype(np.int32))
    assert (work.a, work.b, work.products, len(work.chains)) == (2, 1, 2, 1)


def test_who_looks_at_sums_in_between_gets_them():
    """In each round the sums so far are written out; in the end, those of both rounds."""
    a, b = operands()
    early = "%50 = load i32 %12\n%51 = index i32 %0 %5\nstore %51 %50\n"
    text = HEAD + ZERO + DIRECTLY + TAIL.replace("end %22\n", early + "end %22\n")
    got, done = execute(text, a, b)
    assert np.array_equal(got, sum(a.astype(np.int32)) @ b[0].astype(np.int32))
    assert [work.products for work in done] == [1, 1]


def test_sums_that_were_kept_before_more_was_added_are_not_lost():
    """Another register has the sums of the round before; in the end, those of the first round."""
    a, b = operands()
    kept = "%60 = register i32[2]\n%61 = index i32 %60 %6\n%62 = index i32 %60 %8\n"
    head, loop = HEAD.split("%22 = range")
    text = head + kept + "%22 = range" + loop + ZERO + DIRECTLY + TAIL
    text = text.replace("%40 = stack", "store %61 %38\nstore %62 %39\n%40 = stack")
    text = text.replace("%44 = load i32 %12", "%44 = load i32 %61")
    text = text.replace("%45 = load i32 %13", "%45 = load i32 %62")
    got, (work,) = execute(text, a, b)
    assert np.array_equal(got, a[0].astype(np.int32) @ b[0].astype(np.int32))
    assert [len(chain) for chain in work.chains] == [2, 1]


def test_a_warp_that_does_not_lie_along_the_first_axis_is_refused():
    lines = read_listing(HEAD + ZERO + DIRECTLY + TAIL)[1]
    a, b = operands()
    buffers = [np.zeros(64, np.uint8), *(x.ravel().view(np.uint8) for x in (a, b))]
    with pytest.raises(NotImplementedError, match="a warp has 8 lanes"):
        Run(lines, buffers, (1, 1, 1), (4, 2, 1), lambda *work: np.zeros(0)).run()
