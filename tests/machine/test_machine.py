"""The small processor computes what the loops compute, however its code was chosen and ordered.

The loop interpreter is the witness for values; for cycles, the simulator and the graph of waits are
two models that know nothing of each other.
"""

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.exercises import baselines
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, BEFORE, BOTH, build, measure
from course_lib.machine.core import INSTRUCTIONS, Core, Instr, listing
from course_lib.machine.cover import cover, match, placed
from course_lib.machine.depends import bound, cycles_of, needs_of, starts
from course_lib.machine.linear_scan import linear_scan
from course_lib.machine.list_schedule import list_schedule
from course_lib.machine.lives import Live, lives_of, pressure
from course_lib.machine.select import select
from course_lib.machine.show import cycles, registers
from course_lib.machine.simulate import run
from course_lib.machine.spill import check_allocation
from lessons.u06.kernels import kernels, tile
from lessons.u06.programs import (
    random_lives,
    random_needs,
    random_patterns,
    random_tree,
)

SLOTS = ("machine.cover", "machine.linear_scan", "machine.list_schedule")
WAYS = ((), (BEFORE,), (AFTER,), BOTH)


def same_values(kernel, built):
    rng = np.random.default_rng(1)
    ours = {p.name: rng.integers(-4, 5, p.type.dims).astype(np.float32) for p in kernel.params}
    theirs = {name: array.copy() for name, array in ours.items()}
    found = measure(built, ours)
    run_kernel(kernel, theirs)
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-4)
    return found


def random_kernel(seed):
    """Statements over a few vectors: sums, products, broadcasts, and what was written before."""
    rng = random.Random(seed)
    vectors = rng.randint(1, 3)
    lines = []

    def leaf(known):
        return rng.choice([f"x[{rng.randrange(4)}, j]", f"w[{rng.randrange(6)}]", "0.5", "2.0",
                           *known])  # fmt: skip

    def expr(known, depth):
        if depth == 0 or rng.random() < 0.2:
            return leaf(known)
        a, b = expr(known, depth - 1), expr(known, depth - 1)
        return rng.choice([f"({a} * {b})", f"({a} + {b})", f"({a} - {b})", f"max({a}, {b})",
                           f"relu({a})", f"({a} * {b} + {leaf(known)})",
                           f"({leaf(known)} - {a} * {b})"])  # fmt: skip

    known = []
    for row in range(rng.randint(1, 5)):
        lines.append(f"      t[{row}, j] = {expr(known, 3)}")
        known.append(f"t[{row}, j]")
    lines.append(f"      out[j] = {expr(known, 3)}")
    if rng.random() < 0.5:
        lines.append("      out[j] += x[3, j]")
    width = 8 * vectors
    body = "\n".join(lines)
    return parse_kernel(
        f"kernel @k(x: f32[4,{width}], w: f32[6], out: f32[{width}]) {{\n"
        f"  local t: f32[5,{width}]\n  for r in 0..2 {{\n    vector j in 0..{width} {{\n{body}\n"
        "    }\n  }\n}"
    )


@pytest.mark.parametrize("name", kernels())
@pytest.mark.parametrize("plain", [n for k in range(4) for n in combinations(SLOTS, k)])
def test_the_kernels_compute_what_their_loops_compute(name, plain):
    kernel = kernels()[name]
    with baselines(*plain):
        same_values(kernel, build(kernel, Core(), BOTH))


@given(st.integers(0, 10_000), st.sampled_from(WAYS), st.sampled_from([4, 5, 8, 16]),
       st.integers(1, 3))  # fmt: skip
def test_random_loops_compute_the_same_in_every_way(seed, ways, count, width):
    kernel = random_kernel(seed)
    built = build(kernel, Core(count, 8, width), ways)
    found = same_values(kernel, built)
    needs = needs_of(built.code, built.lanes)
    assert found.cycles == cycles_of(range(len(needs)), needs, width)
    assert list(found.starts) == starts(range(len(needs)), needs, width)
    assert found.cycles >= bound(needs, width)


@given(st.integers(0, 10_000))
def test_no_cover_is_cheaper_than_the_one_found(seed):
    tree, patterns = random_tree(seed, 7), random_patterns(seed)

    def all_costs(at):
        if isinstance(at, str):
            return [0]
        found = []
        for pattern, cost in patterns.values():
            holes = match(pattern, at)
            if holes is not None:
                found.append(cost + sum(min(all_costs(hole)) for hole in holes))
        return found

    names = cover(tree, patterns)
    assert sum(patterns[name][1] for name in names) == min(all_costs(tree))
    assert len(list(placed(tree, names, patterns))) == len(names)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_no_allocation_spills_fewer(seed, count):
    lives = random_lives(seed, 9)
    found = linear_scan(lives, count)
    check_allocation(lives, found, count)
    fewest = next(
        n for n in range(len(lives) + 1)
        for gone in combinations(lives, n)
        if pressure([live for live in lives if live not in gone]) <= count
    )  # fmt: skip
    assert len(lives) - len(found) == fewest


def test_longest_chains_first_is_good_and_not_perfect():
    better, programs = 0, [(random_needs(seed, 8), 1 + seed % 2) for seed in range(200)]
    for needs, width in programs:
        ours = cycles_of(list_schedule(needs, width), needs, width)
        assert bound(needs, width) <= ours <= cycles_of(range(len(needs)), needs, width) + 1
        better += ours < cycles_of(range(len(needs)), needs, width)
    assert better > 50


def test_a_program_as_text():
    code = select(block_of(kernels()["0.5·x + y"]))[:4]
    assert listing(code).split() == [
        *("0", "ld", "v1,", "x[0]"), *("1", "muli", "v2,", "v1,", "0.5"),
        *("2", "addm", "v4,", "v2,", "y[0]"), *("3", "st", "out[0],", "v4"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kernel @k(x: f64[8], out: f64[8]) {\n}", "the core has f32"),
        ("kernel @k(x: f32[8], out: f32[8]) {\n  for i in 0..8 {\n    out[i] = exp(x[i])\n  }\n}",
         "the core has no exp"),
        ("kernel @k(x: f32[9], out: f32[9]) {\n  vector i in 0..9 {\n    out[i] = x[i]\n  }\n}",
         "multiples of its 8 lanes"),
        ("kernel @k(x: f32[16], out: f32[8]) {\n  vector i in 0..8 {\n    out[i] = x[2*i]\n  }\n}",
         "2 elements apart"),
        ("kernel @k(x: f32[8], out: f32[8]) {\n  local t: f32[8]\n  vector i in 0..8 {\n"
         "    out[i] = t[i]\n  }\n}", "read before it is written"),
        ("kernel @k(x: f32[5000], out: f32[5000]) {\n  for i in 0..5000 {\n    out[i] = x[i]\n"
         "  }\n}", "more than 4096 values"),
        ("kernel @k(x: f32[8], out: f32[8]) {\n  vector i in 0..8 {\n"
         "    out[i] = cast(index(i), f32)\n  }\n}", "the core has no"),
    ],
)  # fmt: skip
def test_what_the_core_cannot_do_is_said(text, words):
    with pytest.raises(ValueError, match=words):
        block_of(parse_kernel(text))


def test_old_numbers_are_read_before_they_are_overwritten():
    kernel = parse_kernel("""
kernel @shift(x: f32[8], out: f32[16]) {
  local t: f32[8]
  vector i in 0..8 {
    t[i] = out[i]
    out[i] = x[i]
    out[i + 8] = t[i] * x[i]
  }
}""")
    for ways in WAYS:
        same_values(kernel, build(kernel, Core(), ways))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([Instr("st", "", ("f0",), ("x", 0))], "nothing was written to f0"),
        ([Instr("ld", "f99", (), ("x", 0))], "no register 'f99'"),
        ([Instr("ld", "f0", (), ("x", 4))], "outside x"),
        ([Instr("ld", "f0", (), ("stack", 0))], "nothing was stored there"),
    ],
)
def test_a_wrong_program_does_not_run(code, words):
    with pytest.raises(ValueError, match=words):
        run(code, Core(), {"x": np.ones(8, np.float32)})


def test_wrong_pieces_are_named():
    lives = [Live("a", 0, 4), Live("b", 1, 3)]
    with pytest.raises(ValueError, match="share register 0"):
        check_allocation(lives, {"a": 0, "b": 0}, 2)
    with pytest.raises(ValueError, match="there are 2"):
        check_allocation(lives, {"a": 2}, 2)
    with pytest.raises(ValueError, match="must come after 0"):
        starts([1, 0], [{}, {0: 4}], 1)
    with pytest.raises(ValueError, match="each instruction once"):
        starts([0, 0], [{}, {}], 1)
    with pytest.raises(ValueError, match="at least 4 registers"):
        Core(registers=3)
    with pytest.raises(ValueError, match="phases are"):
        build(kernels()["0.5·x + y"], phases=("later",))
    with pytest.raises(ValueError, match="left over"):
        list(placed("v1", ["ld"], {"ld": (("load",), 1)}))
    with pytest.raises(ValueError, match="a second time"):
        lives_of([Instr("li", "v0", number=1.0), Instr("li", "v0", number=2.0)])


def test_every_instruction_has_a_latency_and_a_meaning():
    for row in INSTRUCTIONS.values():
        assert row.latency >= 1
        assert row.doc


def test_pictures_say_who_is_where():
    built = build(tile(2, 1), Core())
    assert "ld" in str(cycles(built, "a tile"))
    lives = lives_of(built.selected)
    assert "memory" in str(registers(lives, linear_scan(lives, 2), "two registers"))
