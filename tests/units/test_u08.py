"""Unit 8: its figures are counted here, its recorded texts are what isl, LLVM and GCC say."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from autograder.check.framework import mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.units.u08.checks.schedules import CASES, GOOD
from course_lib.bridges import isl
from course_lib.cost.cache import Cache
from course_lib.exercises import plugged, slot, using
from course_lib.ir.loops.polyhedra.dependences import dependences
from course_lib.schedule.legality import may_parallelize, may_tile
from lessons.u08 import chains, isl_schedules, pairs, stencils, wild
from lessons.u08.pictures import STENCIL, lattice

SIDES = [n for n in range(1, 97) if 96 % n == 0]  # of tiles
BLOCKS = "skew(t, i, 1)\nsplit(i, 64)\nreorder(io, t, ii)"
WAVES = (
    "skew(t, i, 1)\nsplit(t, 16)\nsplit(i, 64)\nreorder(to, io, ti, ii)\nskew(to, io, 1)\n"
    "reorder(io, to, ti, ii)\nparallelize(to)"
)


HEARD = ["u08.witnesses", "u08.meet", "u08.broken", "schedule.skewed", "u08.time_blocks",
         "u08.overlapped", "u08.one_thread", "u08.eliminate"]  # fmt: skip


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict = judge(name, call, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


def text(course):
    return (course / "notebooks/u08_dependence.md").read_text()


def test_the_numbers_of_the_opening_question():
    written, cut = stencils.row(), stencils.in_blocks(64)
    skewed = stencils.scheduled(written, BLOCKS)
    assert [stencils.missing(kernel) for kernel in (written, cut, skewed)] == [4096, 64, 64]
    assert stencils.wrong(cut, written) == 970
    assert stencils.wrong(skewed, written) == 0
    assert not may_tile(written, {"t": 64, "i": 64})


def test_the_arrows_follow_values_and_the_definition_elements():
    """Distances of the flow dependences of the row: from the last write, and from any."""
    values, others = stencils.flow_distances(4, 8)
    assert values == set(STENCIL)
    assert (
        {(1, 1), (2, -1)} <= others == {(dt, di) for dt in (1, 2, 3) for di in (-1, 0, 1)} - values
    )
    assert all(dt + di >= 0 and dt >= 0 for dt, di in others)  # each is a sum of arrows


@pytest.mark.parametrize(
    ("steps", "backwards"),
    [({}, 0), ({"block": (4, 4)}, 3), ({"skew": 1, "block": (4, 4)}, 0),
     ({"skew": 1, "block": (2, 4)}, 0)],
)  # fmt: skip
def test_the_arrows_of_the_pictures(steps, backwards):
    picture = lattice(4, 8, STENCIL, "a row", **steps)
    assert picture.text.count("backwards;") + picture.text.endswith("backwards") == backwards
    assert "73 arrows" in picture.text


def test_the_text_of_a_picture_has_the_numbers_of_its_labels():
    picture = lattice(4, 7, [(0, 1), (1, 0), (1, 1)], "x", of="blocks", first=0)
    assert "(0, 0) -> (0, 1)" in picture.text
    assert "(0, 7)" not in picture.text


def test_blocks_of_a_given_size_may_be_legal_although_a_number_is_negative():
    assert may_tile(stencils.row(), {"t": 1, "i": 64})


def test_the_five_nests_have_the_dependences_that_they_are_shown_for():
    kinds = {name: [(d.kind, d.distance) for d in dependences(kernel.body)]
             for name, kernel in stencils.five().items()}  # fmt: skip
    assert kinds == {"a": [("flow", (1, -1))], "b": [], "c": [], "d": [("output", (2, -1))],
                     "e": [("anti", (1,)), ("flow", (None,))]}  # fmt: skip


def test_quick_tests_never_say_no_where_there_is_a_pair():
    meet = slot("u08.meet").reference
    for a, b, c, d, n in pairs.random_pairs(400):
        there = any(a * i + b == c * j + d for i in range(n) for j in range(n))
        assert (meet(a, b, c, d, n) is not None) == there
        assert not there or (pairs.by_gcd(a, b, c, d) and pairs.by_bounds(a, b, c, d, n))
    assert pairs.false_alarms(meet) == 17


def test_blocks_of_time():
    long = stencils.row(1024, 512)
    steps = "skew(t, i, 1)\nsplit(t, {})\nsplit(i, 64)\nreorder(to, io, ti, ii)"
    counts = [stencils.missing(stencils.scheduled(long, steps.format(depth)))
              for depth in (32, 64, 128, 256, 512)]  # fmt: skip
    assert (stencils.missing(long), counts) == (32_768, [1024, 512, 256, 128, 336])


ROW = "out[i, j] = out[i - 1, j] + out[i, j - 1]"


@pytest.mark.parametrize(
    ("body", "words"),
    [(f"for i in 1..9 {{ for j in 1..9 {{ {ROW} }} out[i, 0] = 0.0 }}", "beside the inner loop"),
     (f"out[0, 0] = 0.0 for i in 1..9 {{ for j in 1..9 {{ {ROW} }} }}", "beside the outer loop"),
     ("for i in 1..9 { out[i, 0] = 0.0 } for j in 1..9 { out[0, j] = 0.0 }", "stand in the other"),
     (f"for t in 0..3 {{ for i in 1..9 {{ for j in 1..9 {{ {ROW} }} }} }}", "exactly two loops"),
     ("for i in 1..1000000000000 { for j in 1..3 { out[0, 0] = 1.0 } }", "but it has 2 with i")],
)  # fmt: skip
def test_what_is_wrong_with_two_loops_is_said(body, words):
    verdict = judge("u08.one_thread", lambda: f"kernel @k(out: f32[9,9]) {{ {body} }}")
    assert words in verdict.problem, verdict


def test_missing_pairs_of_conditions_quote_what_pairs_say():
    """Not the example of the notation."""
    wrong = mutants_of("u08.eliminate")["only_the_others"]
    verdict = judge("u08.eliminate", wrong)
    assert "satisfy them exactly" in verdict.spec, verdict


def test_an_error_in_a_skew_is_shown_with_the_nest():
    with plugged("schedule.skewed", lambda loop, outer, factor: loop.stops / 0):
        call = Here(slot("schedule.skewed"))
        with using({}):
            found = judge("schedule.skewed", call)
    assert found.kind == "crashed" and found.program.startswith('skewed(loop, "t", 1), where')
    assert "for i in 1..9 {" in found.program


def test_a_distance_that_blocks_break_quotes_what_a_block_may_hold():
    wrong = mutants_of("u08.broken")["blocks_change_nothing"]
    assert "a block may hold both iterations" in judge("u08.broken", wrong).spec


def test_the_schedule_runs_the_students_own_skew():
    """What it makes of a loop is what the steps work on, and the check says whose it is."""
    entry = slot("u08.time_blocks")

    def crashes(loop, outer, factor):
        return loop.nothing

    def stays(loop, outer, factor):
        return loop

    for wrong, words in ((crashes, 'check("schedule.skewed") says more'), (stays, "backwards")):
        with plugged("schedule.skewed", wrong), plugged(entry.name, entry.reference):
            call = Here(entry)
            with using({}):
                verdict = judge(entry.name, call, shrink=False)
        assert words in verdict.problem, verdict


@pytest.mark.parametrize("size", [4, 8])
def test_what_isl_skews_our_steps_cut_into_blocks(size):
    """All three loops of the plate: two of them are skewed."""
    kernel = isl_schedules.isl_schedule("plate").kernel
    outer = [f"c{n}o" for n in range(3)]
    inner = [f"c{n}i" for n in range(3)]
    steps = [f"split(c{n}, {size})" for n in range(3)]
    blocks = stencils.scheduled(kernel, "\n".join([*steps, f"reorder({', '.join(outer + inner)})"]))
    assert isl_schedules.differs(blocks, isl_schedules.NESTS["plate"]) < 1e-5


def shares(blocks):
    kernels = [(stencils.plate(*sizes), Cache(size, 4), blocks(*sizes, size))
               for *sizes, size in CASES]  # fmt: skip
    return [stencils.missing(stencils.scheduled(kernel, steps), cache)
            / stencils.missing(kernel, cache) for kernel, cache, steps in kernels]  # fmt: skip


def test_scores_that_the_text_names():
    ours = shares(slot("u08.time_blocks").reference)
    assert round(np.mean(ours), 3) == 0.229 < GOOD
    two = "skew(t, i, {0})\nsplit(t, 2)\nsplit(i, {0})\nreorder(to, io, ti, ii, j)"
    assert np.mean(shares(lambda *sizes: two.format(sizes[3]))) == pytest.approx(0.5, rel=0.02)
    assert list(isl_schedules.PLATES) == CASES
    written = [stencils.missing(stencils.plate(*sizes), Cache(size, 4)) for *sizes, size in CASES]
    assert [*isl_schedules.PLATES.values()] == [
        round(s * w) for s, w in zip(ours, written, strict=True)
    ]


def test_a_wave_of_blocks_is_parallel_and_changes_no_bit():
    waves = stencils.scheduled(stencils.row(258, 64), WAVES)
    assert stencils.wrong(waves, stencils.row(258, 64)) == 0
    blocks = stencils.scheduled(stencils.row(258, 64), WAVES.split("\nskew(to")[0])
    assert not may_parallelize(blocks, "to")
    assert not may_parallelize(blocks, "io")


TILES = [(24, 96), (8, 96), (1, 96), (4, 4), (16, 16)]


def test_overlapped_tiles_compute_as_much_as_the_answer_says_and_change_no_bit():
    overlapped, written = slot("u08.overlapped").reference, chains.chain(24, 24)
    for tile in ((8, 24), (4, 6), (1, 1)):
        kernel = chains.tiled_chain(24, 24, tile)
        assert chains.values_computed(kernel) == overlapped(24, 24, tile, chains.WINDOW, 1)
        assert stencils.wrong(kernel, written) == 0
    assert chains.values_computed(written) == 26 * 26


def test_tiles_of_two_convolutions_halve_the_misses():
    written = stencils.missing(chains.chain(96, 96), chains.CHAIN_CACHE)
    tiled = [stencils.missing(chains.tiled_chain(96, 96, tile), chains.CHAIN_CACHE)
             for tile in TILES]  # fmt: skip
    assert (written, tiled) == (2405, [2564, 1265, 1222, 1206, 1224])
    assert 1203 == (100 * 100 + 96 * 96) // 16 + 2 < min(tiled)


def test_the_tile_that_the_text_names_does_the_least_work_of_those_with_few_misses():
    overlapped = slot("u08.overlapped").reference
    works = {tile: overlapped(96, 96, tile, 3, 1) for tile in product(SIDES, SIDES)}
    least = works[16, 32]
    assert round(least / 98**2, 2) == 1.15
    for tile in [(16, 32), *(tile for tile, work in works.items() if work < least)]:
        misses = stencils.missing(chains.tiled_chain(96, 96, tile), chains.CHAIN_CACHE)
        assert (misses <= 1.05 * 1203) == (tile == (16, 32)), tile


def test_every_dependence_of_the_row_is_a_sum_of_arrows():
    """Of (0, 1), (1, 0) and (1, -1), which reach just the distances with t >= 0 and t + i >= 0."""
    iterations = [*product(range(4), range(1, 9))]
    touched = {(t, i): {i - 1: "r", i: "rw", i + 1: "r"} for t, i in iterations}
    for (t, i), (u, j) in combinations(iterations, 2):
        ways = [touched[t, i][k] + touched[u, j][k] for k in {*touched[t, i]} & {*touched[u, j]}]
        if any("w" in way for way in ways):
            assert u - t >= 0 and (u - t) + (j - i) >= 0, ((t, i), (u, j))


def test_a_tile_that_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="a tile of 5 × 96 does not divide 96 × 96"):
        chains.tiled_chain(96, 96, (5, 96))


@pytest.mark.parametrize("name", isl_schedules.NESTS)
def test_the_recorded_loops_of_isl_compute_the_same(name, monkeypatch):
    monkeypatch.setattr(isl, "installed", lambda: False)
    then = isl_schedules.isl_schedule.__wrapped__(name)
    assert isl_schedules.differs(then.kernel, isl_schedules.NESTS[name]) < 1e-5


def test_isl_answers_what_the_text_promises_for_a_longer_reach():
    pytest.importorskip("islpy")
    sets = isl.sets_of(stencils.row())
    further = isl.Sets(sets.domain, sets.reads.replace("i + 1", "i + 2"), sets.writes, sets.times)
    (band,) = isl.bands(further)
    assert "2t + i" in band.rows
    assert band.permutable
    assert not any(band.parallel)


def test_isl_answers_for_all_sizes_at_once_and_begins_a_second_band():
    pytest.importorskip("islpy")
    sets = isl.sets_of(stencils.row())
    (band,) = isl.bands(sets)
    any_size = "[T, N] -> { S0[t, i] : 0 <= t < T and 1 <= i < N - 1 }"
    (general,) = isl.bands(isl.Sets(any_size, sets.reads, sets.writes, sets.times))
    assert general.rows == f"[T, N] -> {band.rows}"
    turned = "{ S0[t, i] -> out[1023 - i] }"
    assert len(isl.bands(isl.Sets(sets.domain, turned, sets.writes, sets.times))) == 2


@pytest.mark.parametrize("side", [32, 51])
def test_their_blocks_change_no_bit_and_fetch_each_line_twice(side):
    kernel = wild.in_squares(side)
    assert stencils.missing(kernel) == 128
    assert isl_schedules.differs(kernel, stencils.row()) < 1e-5
