"""Unit 7: its figures are those of the simulator, of LLVM and of g++; its words help."""

import math
import re
import subprocess
from itertools import permutations

import pytest

from autograder.check.edits import edited
from autograder.check.framework import Wrong, mutants_of
from autograder.notebook import check
from autograder.units.u07.checks import ORDERS
from autograder.units.u07.checks.cache import enough
from autograder.units.u07.checks.schedules import CASES, score, worth
from autograder.units.u07.makers import NUMBERS, PACKED, PLAIN, TILED
from autograder.validate import verdict_of
from course_lib.bridges.gxx import FLAGS, CppError, compiler
from course_lib.cost.blocks import blocks
from course_lib.cost.cache import SMALL, misses, misses_of, set_by_set
from course_lib.cost.machine import Machine
from course_lib.exercises import plugged, slot
from course_lib.ir.types import f32
from lessons.u07 import native
from lessons.u07.libraries import libraries_table
from lessons.u07.native import (
    COUNTED,
    RECORDED,
    RECORDED_PACKED,
    TEXTBOOK,
    counted_in,
    dots,
    native_table,
    packing_table,
    touched,
)
from lessons.u07.products import (
    BEYOND,
    IN_MODELS,
    LARGE,
    assembly,
    counted,
    differing,
    innermost,
    lines_beyond,
    reuse,
    scheduled,
    tile_schedule,
    waiting,
)

WITH_MUTANTS = ["u07.orders", "cost.cache.missed", "u07.smallest", "u07.blocking",
                "u07.bad_width"]  # fmt: skip


def waits(sizes, steps, caches=SMALL):
    return waiting(misses(scheduled(sizes, steps), caches), sizes)


# ── what the lesson says in numbers ──


def test_the_six_orders_of_the_lesson():
    """31 times, 19 cycles and 1.5; and all but one number are those of the formula."""
    orders, found = slot("u07.orders").reference, {}
    for order in map("".join, permutations("mnk")):
        first, second = misses(scheduled((64, 64, 64), f"reorder({', '.join(order)})"))
        found[order] = sum(first.values())
        if order == "mnk":
            assert (first["x"], waiting([first, second], (64, 64, 64))) == (
                4480,
                pytest.approx(19.2, abs=0.05),
            )
            assert orders(order, 64) - found[order] == 16384 - 4480
        else:
            assert orders(order, 64) == found[order]
    assert max(found.values()) / min(found.values()) == pytest.approx(31.3, abs=0.05)
    assert waits((64, 64, 64), "reorder(m, k, n)") == pytest.approx(1.45, abs=0.01)
    steps = "split(m, 4)\nsplit(n, 16)\nsplit(k, 32)\nreorder(ko, mo, no, ki, mi, ni)\nunroll(mi)\n"
    tiled = waits((64, 64, 64), steps + "vectorize(ni)\npromote(out, ki)")
    assert tiled == pytest.approx(0.43, abs=0.005)
    assert set(ORDERS) == set(found)


def test_where_the_textbooks_order_finds_its_lines():
    counts = reuse(scheduled((48, 48, 48), ""))
    every = sum(counts.values())
    assert round(100 * sum(n for d, n in counts.items() if 0 <= d < 32) / every) == 73
    smallest = slot("u07.smallest").reference
    assert [smallest(counts, share) for share in (0.2, 0.02, 0.01)] == [52, 52, 153]


def test_the_lines_of_a_column_are_in_two_sets():
    assert len({4 * k % SMALL[0].sets for k in range(64)}) == 2


def test_the_ways_of_section_4():
    sizes, tail = (60, 96, 48), "\nunroll(mi)\nvectorize(ni)\npromote(out, k)"
    blocks_of_12 = "split(m, 12)\nsplit(n, 16)\nsplit(k, 16)\nreorder(mo, no, ko, mi, ki, ni)"
    found = [waits(sizes, steps) for steps in ("", "reorder(m, k, n)", blocks_of_12,
             "split(m, 4)\nsplit(n, 16)\nreorder(mo, no, k, mi, ni)" + tail)]  # fmt: skip
    assert found == pytest.approx([14.2, 4.51, 0.916, 1.25], abs=0.05)


def test_the_figures_of_the_scored_exercise():
    def seen(steps):
        return float(score(steps, CASES).seen.split()[0])

    mutants, ours = mutants_of("u07.blocking"), slot("u07.blocking").reference
    assert seen(mutants["as_written"]) == pytest.approx(43.09, abs=0.006)
    assert seen(mutants["rows_inside"]) == pytest.approx(4.48, abs=0.006)
    assert seen(mutants["one_level"]) == pytest.approx(0.93, abs=0.006)
    assert seen(ours) == pytest.approx(0.535)
    assert (worth(0.6), worth(0.8), worth(0.6 * (4 / 3) ** 4)) == (
        1,
        pytest.approx(0.75),
        pytest.approx(0),
    )


def test_a_text_without_sizes_loses_points():
    """No depth but 1, 2 and 4 divides each k, and what ignores the caches waits longer."""
    assert math.gcd(*(k for _, _, k, *_ in CASES)) == 4
    mutants = mutants_of("u07.blocking")
    for label in ("cubes", "one_level", "one_text_for_all_caches", "for_the_first_cache_only"):
        assert 0.5 < score(mutants[label], CASES).fraction < 0.9, label


def test_a_rest_in_the_way_of_reorder_is_named():
    why = r"no must be all .* and nt stands beside it: split\(n, 32\) left a rest, as 32 does not "
    with pytest.raises(ValueError, match=why + "divide 80"):
        scheduled((12, 80, 48), "split(m, 6)\nsplit(n, 32)\nreorder(no, mo, k, mi, ni)")


def test_only_promote_changes_the_last_bits():
    blocks = "split(m, 6)\nsplit(n, 16)\nsplit(k, 8)\nreorder(ko, mo, no, ki, mi, ni)"
    ways = {"": "reorder(m, k, n)", "b": blocks, "p": blocks + "\npromote(out, ki)"}
    assert [line.split()[-3] for line in repr(differing((12, 32, 32), ways)).splitlines()[1:]] == [
        "0", "0", "280"]  # fmt: skip
    with pytest.raises(ValueError, match="anti dependence through out would run backwards"):
        scheduled((12, 32, 32), "split(k, 8)\nreorder(ki, ko, m, n)")


def test_what_llvm_makes_of_tiles_for_haswell():
    """As many loads as the formula says if a tile fits, and spills exactly if it does not."""
    for rows, vectors in [(4, 1), (4, 2), (6, 2), (7, 2), (8, 2), (3, 3), (4, 3), (5, 3), (2, 4),
                          (3, 4), (14, 1)]:  # fmt: skip
        kernel = scheduled((4 * rows, 16 * vectors, 64), tile_schedule(rows, vectors))
        fma, loads, stack = counted(innermost(assembly(kernel)))
        turns = fma // (rows * vectors)
        assert fma == turns * rows * vectors
        fits = rows * vectors + vectors + 1 <= 16
        assert (stack == 0) == fits, (rows, vectors)
        if fits:
            assert loads == turns * (rows + vectors), (rows, vectors)


def test_the_tile_and_the_depth_of_ours_are_those_of_blis():
    haswell = Machine("haswell", vector_bytes=32, registers=16, cache1=32 << 10, cache2=256 << 10)
    of = blocks((1024, 1024, 1024), f32, haswell)
    assert (of.rows, of.lanes, of.depth) == (6, 16, 256)


def test_the_lines_on_the_roofline():
    """For each number of rows that is simulated, a schedule is made anew, so none can misfit."""
    big = (288, 288, 288)
    assert lines_beyond(lambda *sizes: "reorder(m, k, n)", big) == BEYOND["m, k, n"]
    assert lines_beyond(lambda *sizes: "", big) == BEYOND["as written"]
    assert 3 * 288 * 288 / 16 / 3 < lines_beyond(gotoblas, big) < BEYOND["m, k, n"] / 50
    assert lines_beyond(slot("u07.blocking").reference, big) < BEYOND["m, k, n"] / 50


def gotoblas(m, n, k, first, second):
    """A block of x in the second cache, a strip of w in the first."""
    depth = max(d for d in range(1, k + 1) if k % d == 0 and d <= max(first // 128, 1))
    rows = max(r for r in range(1, m // 6 + 1) if m // 6 % r == 0 and 48 * r * depth <= second)
    return f"""split(k, {depth})
        split(m, {6 * rows})
        split(mi, 6)
        split(n, 16)
        reorder(ko, mo, no, mio, ki, mii, ni)
        unroll(mii)
        vectorize(ni)
        promote(out, ki)
        cache(w, no)"""


def test_the_bill():
    ours, sizes = slot("u07.blocking").reference, [cache.size for cache in SMALL]
    found = {}
    for name, of in IN_MODELS.items():
        ways = ("", "reorder(m, k, n)", ours(*of, *sizes))
        found[name] = [waits(of, steps) for steps in ways]
        assert found[name][0] > 2 * found[name][1] > 2 * found[name][2]
    assert max(found, key=lambda name: found[name][2]).endswith("layer of the MLP")


def test_conflicts_and_their_remedy():
    for width, kept in ((240, True), (256, False), (272, True)):
        block = [width // 16 * row for row in range(16)]
        again = len(set_by_set(block * 2, 8, 4)) - 16
        assert again == (0 if kept else 16)
    panel = "split(n, 16)\nsplit(k, 16)\nreorder(no, ko, m, ki, ni)"
    plain, packed = (misses(scheduled((12, 128, 128), panel + more))[0] for more in
                     ("", "\ncache(w, ko)"))  # fmt: skip
    assert plain["w"] == 12288 and packed["w"] + packed["w_tile"] == 1448


# ── C++ ──


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_the_loops_in_cpp_are_counted_as_ours_are():
    """The textbook's touch what the product touches; a tile of sums in a local is not counted."""
    found = [sum(one.values()) for one in misses_of(touched(TEXTBOOK, 24, 48, 96))]
    assert found == [sum(one.values()) for one in misses(scheduled((24, 48, 96), ""))]
    counts = counted_in({"textbook": TEXTBOOK, "plain": PLAIN, "tiled": TILED})
    for (*both, wait), row in zip(counts.values(), RECORDED, strict=False):
        assert (both, round(wait, 3 if wait < 1 else 1)) == (row[1:3], row[3])


def test_gxx_needs_no_promise_but_the_loop_itself(require_tool, tmp_path):
    """Version 12 writes the 16 columns out before it looks for vectors. A pragma that keeps the
    loop helps, and so does switching that pass off; one that only makes a promise does not."""
    gxx = require_tool("g++")
    said = [subprocess.run([gxx, word], capture_output=True, text=True).stdout.strip()
            for word in ("-dumpmachine", "-dumpversion")]  # fmt: skip
    if not (said[0].startswith("x86_64") and said[1].split(".")[0] == "12"):
        pytest.skip(f"the text speaks of g++ 12 on x86-64, this is {said}")

    def shuffles(pragma="", *flags):
        loop = "            for (long n"
        body = PLAIN.replace(loop, f"{pragma}\n{loop}", 1)
        (tmp_path / "loops.cpp").write_text(native.SOURCE.replace("BODY", body))
        command = [gxx, *FLAGS, "-march=znver3", *flags, "-S", "-o", "-", "loops.cpp"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return len(re.findall(r"\tv(?:perm|shuf|insert|unpck)", done.stdout))

    assert shuffles("#pragma GCC ivdep") == shuffles() > 100
    assert shuffles("#pragma omp simd") == shuffles("#pragma GCC unroll 1") == 0
    assert shuffles("", "-fdisable-tree-cunrolli") == 0


@pytest.fixture
def quick(monkeypatch):
    """Small products, each timed once: what the tables say of them is not asserted."""
    monkeypatch.setattr(native, "COUNTED", (24, 48, 96))
    monkeypatch.setattr(native, "TIMED", (96, 96, 96))
    monkeypatch.setattr(native, "TURNS", 1)


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_the_loops_stand_beside_numpys_product(quick):
    told = []
    shown = repr(native_table(TEXTBOOK, TILED, tell=told.append)).splitlines()
    assert [re.split("  +", line)[0] for line in shown[1:]] == [
        "textbook", "yours", "numpy, one thread"]  # fmt: skip
    assert shown[-1].endswith("100") and len(told) == 1


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_a_packed_copy_is_another_way_to_the_same_product(quick, root, monkeypatch):
    """The loops of the notebook with the gap filled; at 1,024 columns a strip has one set."""
    text = (root / "notebooks/u07_tiling.md").read_text().split('packed = """')[1]
    packed = text.split('"""')[0].replace("...", NUMBERS)
    assert packed == PACKED
    monkeypatch.setattr(native, "WIDTHS", (1024, 1040))
    shown = repr(packing_table(TILED, packed)).splitlines()
    assert [line.split()[:3] for line in shown[1:]] == [
        [row[0], str(row[1]), str(row[2])] for row in RECORDED_PACKED[1:]]  # fmt: skip
    found = misses_of(touched(packed, 12, 48, 96), LARGE)[0]
    assert found["copy"] > found["w"] == 48 * 96 / 16


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_the_loops_in_cpp_have_a_dot_if_they_are_filled_and_run(capsys):
    (one,) = dots(TILED, (96, 96, 96))
    assert one.name == "yours, C++" and one.rate > 0 and 1 < one.intensity < 100
    assert dots("acc[m][n] += ...;", (96, 96, 96)) == []
    assert "dots left to fill in" in capsys.readouterr().out
    assert dots("for (", (96, 96, 96)) == []
    assert "not on the roofline. g++ says" in capsys.readouterr().out


def test_three_libraries_multiply_on_one_thread():
    lines = repr(libraries_table([(48, 48, 48)], {"mine": [1e9]})).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["mine", "numpy", "torch", "onnxruntime"]
    assert "MLAS" in lines[-1] and all(float(line.split()[-1]) > 0 for line in lines[1:])


def test_without_a_compiler_the_recorded_figures_say_where_they_are_from(monkeypatch, capsys):
    monkeypatch.setattr(native, "compiler", lambda: None)
    assert "with the pragma" in repr(native_table(TEXTBOOK, TILED))
    assert "1,040" in repr(packing_table(TILED, TILED)) and dots(TILED, (96, 96, 96)) == []
    assert "recorded with g++ 12.2 (an AMD EPYC" in capsys.readouterr().out


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_the_block_of_k_is_worth_something_to_a_large_cache():
    def waits_in_cpp(text):
        found = [sum(one.values()) for one in misses_of(touched(text, *COUNTED), LARGE)]
        return waiting([{"": count} for count in found], COUNTED)

    whole = TILED.replace("ko += 96", "ko += K").replace("ko + 96", "K")
    assert waits_in_cpp(TILED) == pytest.approx(0.316, abs=0.001)
    assert waits_in_cpp(whole) == pytest.approx(0.770, abs=0.001)


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_what_is_wrong_with_a_students_loops_is_said_in_a_sentence():
    for text, why in [
        (
            TEXTBOOK.replace("k < K", "k < K - 1"),
            r"do not compute the product: .*first is out\[0, 0",
        ),
        (TEXTBOOK.replace("x[m * K", "x[m * N * K"), r"x\[4608\] is outside: there are 2,304 el"),
        (TEXTBOOK.replace("<", "<=", 1), r"\] is outside"),
        (TEXTBOOK.replace("long k = 0", "long k = -9 * K"), r"x\[-864\] is outside"),
        (f"for (long n = 0; n < 5; ++n) {{ {TEXTBOOK} }}", "more than 8 accesses for each mult"),
        ("for (", "your loops:1"),
    ]:
        with pytest.raises(CppError, match=why):
            touched(text, 24, 48, 96)


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_endless_loops_cost_ten_seconds_and_never_the_kernel(monkeypatch):
    monkeypatch.setattr(native, "SECONDS", 0.5)
    endless = "for (volatile long n = 0; n > -1; ) {}"
    with pytest.raises(CppError, match="is there an endless loop"):
        touched(endless, 24, 48, 96)
    with pytest.raises(CppError, match="is there an endless loop"):
        native.speeds({"yours": "volatile long n = 0; while (M) ++n;"}, (24, 48, 96))


def test_a_text_with_dots_left_is_not_run(capsys, quick):
    shown = native_table(TEXTBOOK, "acc[m][n] += ...;")
    assert "dots left to fill in" in capsys.readouterr().out and "yours" not in repr(shown)


# ── feedback ──


def test_the_stand_in_of_missed_is_right_and_too_slow_to_be_an_answer():
    found = verdict_of(slot("cost.cache.missed"), set_by_set)
    assert (found.kind, found.earned) == ("timed out", 0)
    assert "16,384 sets: is every set, or every earlier access, looked at again" in found.problem


def test_a_simulation_in_place_of_the_formula_is_told_of_large_products():
    wrong = mutants_of("u07.orders")["one_access_after_another"]
    found = verdict_of(slot("u07.orders"), wrong)
    assert found.kind == "timed out"
    assert found.problem.startswith("More than 1,000,000 steps for a product of 4096 × 4096")


def test_what_stays_from_call_to_call_is_said_to_stay():
    with plugged("cost.cache.missed", mutants_of("cost.cache.missed")["the_cache_stays_full"]):
        found = check("cost.cache.missed")
    assert "Nothing may stay from one call to the next." in found.problem
    assert found.program == "missed([5, 7, 5], 1, 2), called twice"
    assert found.spec.startswith("The cache is empty at first")


@pytest.mark.parametrize("share", [0.29, 0.57, 0.58])
def test_where_only_rounding_decides_both_sizes_are_right(share):
    """0.29 * 100 is less than 29, and 29 / 100 is not more than 0.29."""
    few = round(100 * share)
    counts = {-1: few - 10, 3: 100 - few, 9: 10}
    assert {share * 100 < few, few / 100 <= share} == {True}
    for size in (4, 10):
        enough(lambda *_, size=size: size, counts, share)
    with pytest.raises(Wrong, match="A cache of 3 lines misses too often"):
        enough(lambda *_: 3, counts, share)
    exact = {-1: 3, 3: 12, 9: 1}
    with pytest.raises(Wrong, match="A cache of 9 lines is enough"):
        enough(lambda *_: 10, exact, 0.25)


def test_too_many_misses_quote_the_share_and_too_many_lines_quote_the_smallest():
    counts = {-1: 2, 0: 10, 1: 4}
    for size, quoted in ((1, "at most this share"), (3, "the smallest number of lines")):
        with pytest.raises(Wrong) as wrong:
            enough(lambda *_, size=size: size, counts, 0.25)
        assert wrong.value.spec.startswith(quoted)


SIMPLER = ("cubes", "one_level", "as_written", "rows_inside", "packed_for_free")


def test_simpler_schedules_earn_a_part():
    wrong = mutants_of("u07.blocking")  # of all of them, test_units.py asks
    parts = {label: verdict_of(slot("u07.blocking"), wrong[label]).earned or 0 for label in SIMPLER}
    assert parts["cubes"] > 2 and parts["one_level"] > 2
    assert parts["as_written"] == parts["rows_inside"] == parts["packed_for_free"] == 0


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=7).text
    for name in WITH_MUTANTS:
        points, bonus = slot(name).points, "bonus " * slot(name).further
        assert f"{name}: passed ({points} of {points} {bonus}points)" in text
    assert "needs your answer" not in text
    assert "not passed yet" not in text
    for found in ("t is 31.3 times", "t is 73 % of the accesses"):
        assert found in text
    assert re.search(r"6 × 2 +12 +12 +8 +0 +0\.667", text)


@pytest.mark.parametrize("ways", ["1", "ways - 1 or 1", "ways + 1", "2 * ways", "min(ways, 8)"])
def test_a_cache_of_other_ways_is_told_of_the_ways(ways):
    entry = slot("cost.cache.missed")
    verdict = verdict_of(entry, edited(entry.reference, "== ways", f"== ({ways})"))
    assert verdict.spec == "how many lines a set can hold"


def test_no_number_at_all_is_told_the_call():
    verdict = verdict_of(slot("u07.smallest"), lambda counts, share: None)
    assert verdict.program.startswith("smallest({")
