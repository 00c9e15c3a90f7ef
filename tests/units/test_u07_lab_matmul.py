"""The lab of unit 7: a student's C++ is counted, judged and timed, and breaks nothing."""

import re

import pytest

from autograder.check import cpp
from autograder.check.framework import Stop, mutants_of
from autograder.process import start
from autograder.units.u07_lab_matmul.checks import CACHES, run
from autograder.validate import verdict_of
from course_lib.bridges.gxx import CppError, apart
from course_lib.exercises import baselines, slot
from lessons.u07_lab_matmul import timing
from lessons.u07_lab_matmul.counting import (
    COUNT_FLAGS,
    LEVELS,
    Case,
    allowed,
    jumps,
    least,
    moved,
    source,
    touched,
)

LAB = "u07_lab_matmul"
NAMES = ("naive", "tiled", "packed")
BY_GXX = timing.BY_GXX
EMPTY = "void matmul(Matrix x, Matrix w, Matrix out, long M, long N, long K) {{ {} }}"
needs_gxx = pytest.mark.usefixtures("gxx")


@pytest.fixture
def gxx(require_tool):
    require_tool("g++")


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    cpp.close()


def ours(name: str) -> str:
    return slot(f"{LAB}.{name}").reference()


def judged(text: str, name: str = "naive"):
    return verdict_of(slot(f"{LAB}.{name}"), lambda: text)


def body(text: str) -> str:
    return EMPTY.format(text)


# ── what is counted ──


def seen(text: str, case: Case, name: str = "naive"):
    with baselines("cost.cache.missed"):
        found = touched(apart(source(text, name), "counted", COUNT_FLAGS), case)
        return found, moved(found)


@needs_gxx
def test_an_access_is_counted_where_it_is_made():
    """`+=` reads and writes, a moved matrix is the same matrix, a variable is no memory."""
    text = body("float a[3] = {}; a[1] = x[2]; out[1] += a[1]; *(w + 3) = out[0] = 5;")
    found, levels = seen(text, Case(1, 2, 3, *CACHES))
    assert [found.of(name).tolist() for name in ("x", "w", "out")] == [[2], [3], [1, 1, 0]]
    assert found.of("out", writes=True).tolist() == [1, 0]
    assert found.of("out", writes=False).tolist() == [1]
    assert levels["registers"] == {"x": 1, "w": 1, "out": 3, "room": 0}
    assert levels["cache 1"] == levels["cache 2"] == {"x": 16, "w": 16, "out": 16, "room": 0}


@needs_gxx
def test_the_textbook_brings_a_line_of_w_for_each_number_that_it_uses():
    case = timing.COUNTED[0]
    found, levels = seen(ours("naive"), case)
    work = case.m * case.n * case.k
    assert found.count == 2 * work + case.m * case.n
    assert levels["cache 1"]["w"] == 16 * work


@needs_gxx
@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_counts_are_those_of_our_answers(name):
    for number, case in enumerate(timing.COUNTED):
        row = next(row for row in BY_GXX.data("counts")[4 * number :] if row[1] == name)
        found = timing.into(ours(name), case)
        assert [found[level] for level in LEVELS] == pytest.approx(row[2:], rel=5e-3)


def test_the_bound_is_twice_the_least_and_the_matrices_once():
    case = Case(96, 112, 144, *CACHES)
    few = least(case)
    assert few["registers"] / few["cache 2"] == pytest.approx((4096 / 128) ** 0.5)
    assert few["cache 1"] == pytest.approx(2 * 96 * 112 * 144 / 32)
    for level in LEVELS:
        assert allowed(case)[level] == int(2 * few[level]) + case.once
        assert allowed(case, copied=True)[level] == allowed(case)[level] + case.once


@needs_gxx
def test_packing_is_what_an_even_width_takes():
    """At 256 columns our tiles bring too much into both caches, and our packed ones do not."""
    case = timing.COUNTED[1]
    limit = allowed(case, copied=True)
    for name, fits in (("tiled", False), ("packed", True)):
        found, levels = seen(ours(name), case, name)
        for level in LEVELS[1:]:
            assert (sum(levels[level].values()) <= limit[level]) is fits, (name, level)
    assert jumps(found) < 0.01


# ── verdicts ──


@needs_gxx
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (body("x[M * K] = 0;"), r"`x\[1\]` is outside: `x` has 1 elements"),
        (body("float a[4] = {}; for (long i = 0; i < 99; ++i) a[i] = i; out[0] = a[0];"),
         "an index of an array of your own is outside"),
        (body("*(volatile int *)8 = 1;"), "memory that it does not have"),
        (body("__builtin_exit(0);"), "it ended the process"),
        (body("float *p = &x[0];"), "g\\+\\+ does not accept the text"),
        (body("float *p = new float[9];"), "g\\+\\+ does not accept the text"),
        (body("float *p = (float *)__builtin_malloc(M);"), "g\\+\\+ does not accept the text"),
        (body("float a[M]; out[0] = a[0];"), "An array has no constant size"),
        (body("out[0] = **(float **)&x;"), "memory that it does not have"),
        (body("record.count = 0;"), "g\\+\\+ does not accept the text"),
        ('asm(".incbin \\"/etc/passwd\\"");' + body(""), "g\\+\\+ does not accept the text"),
        (body("").replace("matmul", "product"), "defines no `matmul` with these parameters"),
        (body(""), r"The first is out\[0, 0\], which must be .* and was not written"),
        (body("for (;;) out[0] = 1;"), "touch the matrices more than"),
        (body("auto a = x[0]; out[0] = a;"), "g\\+\\+ does not accept the text"),
        (body("out[0] = M < 9 ? x[0] : 0;"), "g\\+\\+ does not accept the text"),
        ("#include <vector>" + body(""), "must include nothing"),
        ("x" * 60_000, "one string of at most 50,000 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_text_is_said_in_a_sentence(text, problem):
    found = judged(text)
    assert found.kind == "wrong" and re.search(problem, found.problem), found


@needs_gxx
@pytest.mark.parametrize(
    ("name", "sentence"),
    [("tiled", "The registers hold 128 numbers"), ("packed", "sizes, caches and registers")],
)
def test_an_array_that_is_too_large_is_measured_by_its_own_sentence(name, sentence):
    found = judged(f"float own[129];\n{ours(name)}", name)
    assert found.problem == "An array has more than 128 numbers." and sentence in found.spec


@needs_gxx
def test_an_endless_loop_ends_and_the_next_text_is_judged(monkeypatch):
    monkeypatch.setattr(cpp, "LIMIT", 0.3)
    found = judged(body("for (volatile long i = 0;; ++i) {}"))
    assert "it did not end within 0.3 seconds" in found.problem
    monkeypatch.undo()
    assert judged(ours("naive")).kind == "passed"


@needs_gxx
def test_a_text_cannot_read_the_course(missing):
    if not start.protected(start.strongest()):
        missing("bwrap")
    found = judged(f'%:include "{start.COURSE}/pyproject.toml"\n{ours("naive")}')
    assert "No such file" in found.got


@needs_gxx
def test_only_the_packed_product_is_told_about_room():
    for name, holds in (("naive", "`out`"), ("tiled", "`out`"), ("packed", "`out` or `room`")):
        wrong = re.sub(r"out\[(.*?)\] = ", r"out[\1] += ", ours(name))
        assert f"comes from what {holds} held before" in judged(wrong, name).problem


@needs_gxx
def test_too_much_says_where_it_goes_and_how_much_is_allowed():
    wrong = mutants_of(f"{LAB}.tiled")["the_narrow_strip_stays"]
    found = verdict_of(slot(f"{LAB}.tiled"), wrong)
    assert re.match(r"94,560 numbers move into the first cache; at most 71,936 may", found.problem)
    assert found.got == "x 7,680, w 70,752, out 16,128"
    assert found.program == "48 × 112 × 80, caches of 4,096 and 16,384 bytes"


def test_without_a_compiler_no_points_are_lost(monkeypatch):
    monkeypatch.setattr(cpp, "compiler", lambda: None)
    with pytest.raises(Stop, match=r"This needs g\+\+"):
        run("naive", lambda: ours("naive"), (1, 1, 1, *CACHES))
    found = judged(ours("naive"))
    assert found.earned is None and "This needs g++" in repr(found)


# ── the tables ──


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(timing, "TIMED", ((48, 64, 32), (24, 32, 48)))
    monkeypatch.setattr(timing, "COUNTED", (Case(12, 16, 16, *CACHES), Case(12, 32, 16, *CACHES)))


@needs_gxx
def test_the_tables_have_a_row_for_each_text(quick):
    texts = {name: ours(name) for name in NAMES}
    counts = repr(timing.counts_table(texts))
    assert [counts.count(f" {name} ") for name in NAMES] == [2, 2, 2]
    told = []
    shown = repr(timing.rates_table(texts, lambda sizes, repeat: [1e9, 1e9], told.append))
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [*NAMES, "numpy,"]
    assert set(told[0]) == {*NAMES, "numpy, one thread"} and min(told[0].values()) > 0


@needs_gxx
def test_a_variant_has_a_row_of_its_own(quick):
    """The parameters of a text say which milestone it is for, whatever its row is called."""
    texts = {f"{name}, again": ours(name) for name in NAMES}
    shown = repr(timing.rates_table(texts, lambda sizes, repeat: [1e9, 1e9]))
    assert all(f"{name}, again " in shown for name in NAMES)
    with pytest.raises(CppError, match="no matmul with the parameters of naive, tiled or packed"):
        timing.rates_table({"tiled": body("").replace("long K", "int K")}, lambda *_: [1, 1])


@needs_gxx
def test_loops_that_are_wrong_are_not_timed(quick):
    text = ours("naive").replace("k < K", "k < K - 1")
    for show in (timing.counts_table, lambda texts: timing.rates_table(texts, lambda *_: [1, 1])):
        with pytest.raises(CppError, match="do not compute the product"):
            show({"naive": text})
    with pytest.raises(CppError, match=r"x\[192\] is outside: there are 192 elements"):
        timing.counts_table({"naive": body("x[M * K] = 0;")})


def test_without_a_compiler_the_recorded_figures_say_where_they_are_from(monkeypatch, capsys):
    monkeypatch.setattr(timing, "compiler", lambda: None)
    assert "packed, at most" in repr(timing.counts_table({}))
    assert "numpy, one thread" in repr(timing.rates_table({}, lambda *_: []))
    assert "of our own loops, were recorded with g++ 12.2 (an Intel Xeon" in capsys.readouterr().out


def test_the_numbers_of_the_text_are_those_of_the_recording(root):
    text = (root / f"notebooks/{LAB}.md").read_text()
    rates = {row[0]: row[1] for row in BY_GXX.data("rates")}
    said = [float(one) for one in re.findall(r"reach(?:es|ed)? ([\d.]+)", text)]
    assert said == [round(rates["naive"], 1), round(rates["numpy, one thread"]),
                    round(rates["packed"])]  # fmt: skip
