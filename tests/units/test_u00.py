"""Unit 0: its evidence is true, its notebook runs unsolved and solved."""

import textwrap

import numpy as np
import pytest

from course_lib.exercises import slot
from course_lib.ir.expr import Affine
from course_lib.ir.loops.interp import run_kernel
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import accesses, loops, statements


@pytest.fixture(scope="module")
def kernel():
    """The kernel that `u00.claims` is about, as its text has it."""
    doc = slot("u00.claims").doc
    first, last = doc.index("    kernel @"), doc.index("\n\nA  ")
    return parse_kernel(textwrap.dedent(doc[first:last]))


def test_the_kernel_of_the_claims_computes_the_layer(kernel):
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.standard_normal(b.type.dims, "f") for b in kernel.params}
    run_kernel(kernel, arrays)
    expected = np.maximum(arrays["x0"] @ arrays["x1"] + arrays["x2"], 0)
    np.testing.assert_allclose(arrays["out"], expected, rtol=1e-4, atol=1e-5)


def test_what_the_claims_say_is_true_or_false_as_the_answer_has_it(kernel):
    (k,) = (loop for loop in loops(kernel.body) if loop.var == "k")
    mi, ni = (s for s in statements(k.body) if isinstance(s, Loop))
    assert mi.extent and ni.extent
    reads_in_k = {buffer for kind, buffer, _ in accesses(k.body) if kind == "read"}
    written = [buffer for kind, buffer, _ in accesses(kernel.body) if kind == "write"]
    parallel = [loop.var for loop in loops(kernel.body) if loop.kind == "parallel"]
    truth = {
        "A": "x2" in reads_in_k,
        "B": written.count("out") == 1,
        "C": mi.extent * ni.extent / (32 // 4) == 12,
        "D": ni.kind == "vector" and steps(kernel, "x1", "ni_2") == [0, 1],
        "E": parallel == ["k"],
        "F": "no" not in read_vars(kernel, "x0") and extent(kernel, "no") == 3,
    }
    false = "".join(letter for letter, holds in truth.items() if not holds)
    assert slot("u00.claims").reference() == false


def indices(kernel, buffer) -> list[Affine]:
    found = next(i for kind, name, i in accesses(kernel.body) if (kind, name) == ("read", buffer))
    return [index for index in found if isinstance(index, Affine)]


def steps(kernel, buffer, var):
    return [index.coefficient(var) for index in indices(kernel, buffer)]


def read_vars(kernel, buffer):
    return {var for index in indices(kernel, buffer) for var in index.vars}


def extent(kernel, var):
    return next(loop.extent for loop in loops(kernel.body) if loop.var == var)


def test_the_students_notebook_runs_without_any_answer(run_notebook):
    text = run_notebook("student", unit=0).text
    assert text.count("not attempted yet (0 of") == 4
    assert text.count("This cell needs your answer to") == 4
    assert "18,304 cycles" in text and "FusedGemm" in text


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=0).text
    for name, points in [("u00.intensity", 1), ("u00.claims", 2), ("u00.busy", 2)]:
        assert f"{name}: passed ({points} of {points} points)" in text
    assert "accelerator.systolic.cycles: passed (3 of 3 points)" in text
    assert "needs your answer" not in text
    assert "256 cells, five shapes" in text
