"""Unit 16: what it says of four compilers is what they say, and its texts run as they are read."""

from __future__ import annotations

import math
import re
import struct

import numpy as np
import pytest

from autograder.check.framework import mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.units.u16.checks import written as drawn
from autograder.units.u16.checks.loops import BY_HAND
from autograder.units.u16.hidden import OTHER_PROGRAMS
from course_lib.exercises import plugged, slot, using
from course_lib.peers.model import model_of
from course_lib.peers.peer import lacking, peer
from lessons.u16 import dispatches, hardware, live, makers, nests, search, stablehlo, wild
from lessons.u16.relax import as_function, expression, matches, on_numpy
from lessons.u16.texts import call, functions
from lessons.u16.tile import SOFTMAX, Tile, launch

HEARD = ["u16.softmaxes", "u16.dispatches", "u16.normalize", "u16.attention", "u16.schedule"]


@pytest.mark.parametrize("name", [*HEARD, "u16.paths"])
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call_ = Here(slot(name))
            with using({}):
                verdict = judge(name, call_, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


# ── what the text says ──


def test_the_numbers_of_the_opening_question():
    counts = {name: len(names) for name, names in wild.launches().items()}
    assert counts == {"ours": 13, "TVM": 15, "IREE": 16, "XLA": 28, "IREE, O3": 11,
                      "IREE, data tiling": 20}  # fmt: skip
    assert {name: len(wild.of_attention(name)) for name in wild.ATTENTION} == {
        "ours": 3, "TVM": 3, "IREE": 3, "XLA": 5,
    }  # fmt: skip
    assert len(model_of("block").graph.ops) == 36


def test_the_block_in_stablehlo():
    found = stablehlo.kinds(wild.BY_XLA["stablehlo"])
    assert sum(found.values()) == 145 and (found["reduce"], found["divide"]) == (6, 6)
    assert slot("u16.softmaxes").reference(wild.block_rows()) == {"%53": 3}
    assert slot("u16.softmaxes").reference(stablehlo.parsed(stablehlo.SMALL)) == {"%8": 1}


def test_why_irees_numbers_differ():
    names = wild.launches()
    new = [name for name in names["IREE, data tiling"] if name not in names["IREE"]]
    assert len(new) == 4 and all(name.startswith("encode") for name in new)
    assert sum("transpose" in name for name in names["IREE"]) == 3
    assert not any("transpose" in name for name in names["IREE, O3"])
    assert sum("reduction" in name for name in names["IREE"]) == 4
    assert sum("reduction" in name for name in names["IREE, O3"]) == 2


def test_the_rules_predict_every_recorded_program():
    answer = slot("u16.dispatches").reference
    for program, groups in dispatches.RECORDED:
        assert dispatches.in_order(answer(program), program) == groups
    others = len(dispatches.RECORDED) - dispatches.SMALL
    assert (others, others + len(OTHER_PROGRAMS)) == (75, 193)


def test_what_a_short_search_found():
    plain, *trials = search.recorded(search.__file__, "search.txt").data("microseconds")
    assert len(trials) == makers.TRIALS and min(trials) < plain
    assert 40 < max(trials) / min(trials) < 60 and max(trials) > plain
    assert min(trials[:8]) < 1.5 * min(trials)
    assert str(min(trials)) in str(search.search_table())


def test_the_vector_loop_is_the_schedule():
    lines = wild.BY_TVM["llvm"].splitlines()
    assert sum("phi <16 x float>" in line for line in lines) == 4
    assert sum("load <16 x float>" in line for line in lines) == 2
    assert sum("fmuladd" in line for line in lines) == 8
    assert nests.rows_of_tvm(wild.BY_TVM["loops"]) == BY_HAND[3]


def test_the_exchanges_of_two_reductions():
    counts = wild.BY_TRITON.data("ptx")
    assert counts["shfl.sync.bfly.b32"] == 2 * (math.log2(32) + math.log2(4)) == 14
    assert counts["ld.global.b32"] == counts["st.global.b32"] == 1024 / 128
    kinds = {line.split()[0] for line in wild.BY_TRITON["exp in PTX"].splitlines()}
    assert all(counts[kind] == 1024 / 128 for kind in kinds)
    (factor,) = struct.unpack("!f", bytes.fromhex("3FB8AA3B"))
    assert factor == np.float32(math.log2(math.e))
    speeds = [row[5] for row in wild.BY_TRITON.data("tiles")]
    assert 20 <= max(speeds) / speeds[0] < 21


def test_every_row_of_the_table_has_a_fact():
    cells = slot("u16.paths").reference()
    assert set(cells) == set(hardware.DEVICES)
    assert all(1 <= n <= len(hardware.FACTS) for row in cells.values() for n in row.values())
    assert str(len(hardware.FACTS)) in hardware.facts_text()
    assert all(re.search(r"20\d\d-\d\d-\d\d$", fact.day) for fact in hardware.FACTS)


def test_what_tvms_fact_says_of_this_package(missing):
    installed("tvm", wild.BY_TVM, missing)
    import tvm  # need not be installed

    made = {kind: tvm.get_global_func(f"target.build.{kind}", allow_missing=True) is not None
            for kind in ("llvm", "cuda", "rocm", "opencl", "c", "vulkan", "metal")}  # fmt: skip
    words = next(fact.words for fact in hardware.FACTS if fact.source == "run here")
    has, _, lacks = words.partition("; the package")
    assert set(made) - set(re.findall(r"\w+", has)) == set(made) & set(re.findall(r"\w+", lacks))
    assert {kind for kind, there in made.items() if not there} == {"vulkan"}


# ── the texts ──


@pytest.mark.parametrize("text, words", [
    (3, "a text, not int"),
    ("def f(x) return x", "no Python"),
    ("x = 1", "only imports"),
    ("def g(x): return x", "must define `f`"),
    ("def f(x, y): return x", "gets 1 arguments"),
    ("def f(x):\n  while True: pass", "line 2: this statement"),
    ("def f(x): return ().__class__", "not known"),
    ("def f(x): return tl.__class__", "`tl.__class__` is none of"),
    ("def f(x): return tl._run", "`tl._run` is none of"),
    ("def f(x): return open('/etc/passwd')", "not known"),
    ("def f(x): return [k for k in range(9)]", "not known"),
    ("def f(x): return (lambda: 1)()", "not known"),
    ("def f(x): return 'a' * 10", "str is no number"),
    ("def f(x): return (1,) * 10", "tuple is no number"),
    ("def f(x):\n  for i in range(10**6): x = x + 1", "not known"),
    ("def f(x):\n  for i in range(1000000): x = x + 1", "steps"),
    ("def f(x):\n  for i in range(100): x = x * 1000", "too large"),
    ("def f(x): return tl.arange(0, 100000)", "power of two"),
    ("def f(x): return tl.arange(0, 65536)[:, None] * tl.arange(0, 65536)[None, :]", "at once"),
    ("def f(x): return x / 0", "division by zero"),
    ("def f(x): return f(x)", "depth"),
    ("def g(x): return f(x)\ndef f(x): return g(x)", "depth"),
    ("def g(x, y): return x\ndef f(x): return g(x)", "`g` gets 1 arguments and has 2"),
    ("def g(x, y): return x\ndef f(x): return g(x, x=x)", "`g` gets 2 arguments and has 2"),
    ("def f(x): return x.__class__", "not known"),
    ("def f(x): return x.tobytes()", "`x.tobytes..` is none of program_id"),
    ("def f(x): return (1).to(x)", "a cast is to"),
    ("def f(x): return x.real", "not known"),
])  # fmt: skip
def test_a_text_can_do_nothing_but_compute(text, words):
    with pytest.raises(ValueError, match=words):
        call(text, "f", [1], {"tl": Tile(0, None)})  # type: ignore[arg-type]


def test_a_text_may_stand_in_a_margin():
    assert call("\n    def f(x):\n        y = x + 1\n        return y\n    ", "f", [2], {}) == 3
    assert list(functions(SOFTMAX)) == ["softmax"]


def test_triton_on_numpy_counts_and_refuses():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    run = launch(SOFTMAX, "softmax", 3, x.shape, x, 4, 8)
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(run.out, e / e.sum(1, keepdims=True))
    assert (run.loaded, run.stored, run.lanes, run.idle) == (12, 12, 48, 0.5)
    for old, new, words in (
        (", mask=inside)", ")", "store touches element 12 of out"),
        (", mask=inside, other=-float(\"inf\"))", ")", "load touches element 12 of x"),
        ("tl.store(out", "tl.store(x", "is an input"),
        ("tl.arange(0, BLOCK)", "tl.arange(0, 6)", "power of two"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            launch(SOFTMAX.replace(old, new), "softmax", 3, x.shape, x, 4, 8)
    no_other = SOFTMAX.replace(', other=-float("inf")', "")
    assert np.isnan(launch(no_other, "softmax", 3, x.shape, x, 4, 8).out).all()


def test_relax_is_matched_with_its_attributes():
    text = "def f(x, w):\n  return R.nn.softmax(R.matmul(x, w, out_dtype='float32'), axis=-1)"
    x, w = np.ones((2, 3)), np.ones((3, 4))
    assert np.allclose(on_numpy(text, "f", [x, w]), 0.25)
    whole = expression("def g(a):\n  b = R.matmul(a, a)\n  return R.nn.softmax(b, axis=-1)", "g")
    assert matches(expression(text, "f"), whole) == 1
    assert matches(expression(text.replace("-1", "1"), "f"), whole) == 0
    twice = expression("def h(a):\n  return R.matmul(a, R.weight(1))", "h")
    same = expression("def k(a):\n  return R.matmul(a, a)", "k")
    assert matches(same, twice) == 0 and matches(twice, same) == 0


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_program_has_the_softmaxes_that_were_put_in(seed):
    """By its numbers: each one's rows sum to 1 along its axis, and no near miss's do."""
    w = drawn(seed, 3)
    values = {}
    rng = np.random.default_rng(seed)
    for name, row in w.program.items():
        values[name] = _value(row, [values[x] for x in row["operands"]], rng)
    for name, axis in w.due.items():
        assert np.allclose(values[name].sum(axis), 1)


def _value(row, given, rng):
    unary = {"tanh": np.tanh, "exponential": np.exp, "negate": np.negative, "sqrt": np.abs,
             "logistic": lambda x: 1 / (1 + np.exp(-x)), "abs": np.abs,
             "exponential_minus_one": np.expm1}  # fmt: skip
    binary = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
    if row["op"] == "input":
        return rng.normal(size=row["shape"]) / 4
    if row["op"] == "reduce":
        join = {"add": np.sum, "maximum": np.max, "minimum": np.min, "multiply": np.prod}
        return join[row["with"]](given[0], axis=tuple(row["dims"]))
    if row["op"] == "broadcast_in_dim":
        shape = [1] * len(row["shape"])
        for axis, size in zip(row["dims"], given[0].shape, strict=True):
            shape[axis] = size
        order = np.argsort(row["dims"])
        return np.broadcast_to(given[0].transpose(order).reshape(shape), row["shape"])
    with np.errstate(all="ignore"):
        if len(given) == 1:
            return unary[row["op"]](given[0])
        return binary[row["op"]](*given)


def test_where_nothing_is_installed_the_recordings_are_shown(monkeypatch):
    monkeypatch.setattr(wild, "lacking", lambda found: f"{found.name} is missing")
    assert wild.BY_IREE.words in wild.phases(live.SMALL)
    other = wild.phases(live.SMALL.replace("tanh", "negate"))
    assert "not of yours" in other and "not of yours" not in wild.phases(live.SMALL)
    assert wild.BY_TVM.words in str(wild.rewrite_table(slot("u16.attention").reference()))
    for answer in ("return q", "return R.nn.softmax(q, axis=2)"):
        with pytest.raises(ValueError, match="`before` does not stand in the block"):
            wild.rewrite_table(f"def before(q, k, v):\n  {answer}")


# ── the recordings ──


def installed(system: str, recording, missing) -> None:
    if words := lacking(peer(system)):
        missing(words)
    if peer(system).version != recording.tool:
        missing(f"{recording.tool}, with which it was recorded,")


def test_xlas_recording_is_what_jax_writes(missing):
    installed("jax", wild.BY_XLA, missing)
    made = makers.xla()
    assert made["stablehlo"] == wild.BY_XLA["stablehlo"]
    assert len(made["launches"].splitlines()) > 13  # how many depends on the processor
    import jax  # need not be installed

    text = jax.jit(jax.nn.softmax).lower(np.ones((8, 8), np.float32)).as_text()
    more = stablehlo.kinds(text) - stablehlo.kinds(stablehlo.SMALL)
    assert more == {"broadcast_in_dim": 1, "maximum": 1, "constant": 1}
    assert list(slot("u16.softmaxes").reference(stablehlo.parsed(text)).values()) == [1]


def test_irees_recordings_are_what_it_makes(missing):
    installed("iree", wild.BY_IREE, missing)
    assert {name: makers.launched(flags) for name, flags in makers.FLAGS.items()} == (
        wild.BY_IREE.data("launches")
    )
    assert wild.phases(live.SMALL) == wild.BY_IREE["phases"]
    lines = wild.BY_IREE["programs"].splitlines()
    asked = makers.asked([*dispatches.EVIDENCE, *dispatches.RECORDED[-6:]]).splitlines()
    assert asked == [*lines[: dispatches.SMALL], *lines[-6:]]


def test_tvms_recordings_are_what_it_makes(missing):
    installed("tvm", wild.BY_TVM, missing)
    made = makers.tvm()
    assert {title: made[title] for title in made} == {t: wild.BY_TVM[t] for t in made}
    text = slot("u16.attention").reference()
    assert live.rewritten(text) == wild.BY_TVM.data("rewritten")
    block = expression(as_function(made["relax"]), "main")
    assert matches(expression(text, "before"), block) == 1
