"""`explore`: every form of a program on one card, and which lines are said to belong together."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from course_lib import exercises
from course_lib.compiler import compile
from course_lib.draw.base.forms import Form, forms
from course_lib.draw.base.picture import Picture
from course_lib.explore import explore
from course_lib.frontend.provenance import UnsupportedOps
from course_lib.ir.graph.build import matmul, relu, trace
from course_lib.models import MODELS, example_inputs

NAMES = ("captured graph", "after passes", "loops", "scheduled loops", "LLVM IR", "assembly",
         "PTX", "chip")  # fmt: skip
Rows = list[tuple[str, str]]


def rows_of(picture: Picture) -> dict[str, Rows]:
    """(key, text) of each line, by form, from what a terminal shows."""
    found: dict[str, Rows] = {}
    rows: Rows = []
    for line in picture.text.splitlines()[3:]:
        if line in NAMES:
            rows = found[line] = []
        elif line.strip():
            rows.append((line[:6].strip(), line[8:]))
    return found


def keyed(rows: Rows, words: str) -> set[str]:
    return {key for key, text in rows if words in text}


@pytest.fixture(scope="module")
def attention() -> Picture:
    def attention(x, w, b):
        return torch.softmax((x @ w + b).relu(), -1)

    return explore(attention, torch.ones(8, 16), torch.ones(16, 32), torch.ones(32))


def test_a_function_of_tensors_has_every_form(attention):
    assert attention.title.startswith("@attention")
    assert tuple(rows_of(attention)) == NAMES


def test_lines_belong_together_by_where_they_come_from(attention):
    forms = rows_of(attention)
    graph = forms["captured graph"]
    for op in ("matmul(", "add(", "relu("):
        assert keyed(graph, op) == {"1"}, "one kernel computes the three"
    assert keyed(graph, "softmax(") == {"2"}
    assert keyed(forms["after passes"], "exp(") == {"2"}
    assert keyed(forms["loops"], "exp(") == {"2"} and keyed(forms["loops"], "+= x0[m, k]") == {"1"}
    assert keyed(forms["PTX"], "fma.rn.f32") >= {"1"}
    (product,) = keyed(forms["scheduled loops"], "+= x0[")
    assert product.startswith("1.")
    assert product in keyed(forms["LLVM IR"], "fmul"), "multiplications are of the product's line"
    known = {key for key, _ in forms["scheduled loops"]}
    for name in ("LLVM IR", "assembly"):
        lines = {key for key, _ in forms[name] if "." in key}
        assert lines and lines <= known


def test_what_the_chip_cannot_do_is_said(attention):
    text = "\n".join(text for _, text in rows_of(attention)["chip"])
    assert "its weights must be a constant" in text


def test_a_key_leaves_the_words_of_a_form_that_has_no_keys(attention):
    """What the chip refuses belongs to no kernel: whichever is chosen, it stays."""
    for form, kind in (("chip", "cl-marks"), ("assembly", "cl-parts")):
        at = attention.html.index(f">{form}</div>")
        assert f'<div class="{kind}">' in attention.html[at : at + 400]


def test_two_kernels_of_one_op_are_counted_as_two():
    picture = explore(lambda x: torch.argmax(x, -1), torch.ones(4, 8))
    assert picture.text.splitlines()[1].startswith("2 kernels")


def test_an_op_that_no_rule_knows_is_words_and_no_stack():
    with pytest.raises(UnsupportedOps) as caught:
        explore(lambda x: torch.linalg.svd(x)[1], torch.ones(4, 8))
    (words,) = caught.value._render_traceback_()
    assert "aten._linalg_svd" in words and "does not support" in words


def test_a_model_with_weights_has_a_program_of_the_chip():
    picture = explore(MODELS["mlp"].build(), *example_inputs("mlp"), longest=300)
    forms = rows_of(picture)
    assert keyed(forms["captured graph"], "transpose(") == {""}, "folded at compile time"
    assert keyed(forms["captured graph"], "matmul(") == {"1", "2", "3"}
    assert "1" in keyed(forms["chip"], "matmul acts=")
    assert all(len(rows) <= 301 for rows in forms.values())
    assert "... and more lines" in picture.text


def test_a_function_of_our_own_nodes_and_a_graph():
    ones = np.ones((4, 4), np.float32)

    def dense(x, w):
        return relu(matmul(x, w))

    picture = explore(dense, ones, ones)
    graph = trace(dense, "f32[4,4]", "f32[4,4]", name="dense")
    assert rows_of(explore(graph)) == rows_of(picture)


def test_it_shows_what_is_plugged_in(attention):
    x, w, b = torch.ones(8, 16), torch.ones(16, 32), torch.ones(32)
    with exercises.plugged("passes.should_fuse", lambda *_, **__: False):
        picture = explore(lambda x, w, b: torch.softmax((x @ w + b).relu(), -1), x, w, b)
    assert not picture.text.splitlines()[1].startswith("2 kernels")


def test_it_computes_what_compile_computes():
    """Names as origins change nothing: the same kernels come out."""
    model, inputs = MODELS["mlp"].build(), example_inputs("mlp")
    plain = compile(model, inputs).stage("scheduled").form
    names = re.findall(r"kernel @(\w+)", explore(model, *inputs).text)
    assert {step.name for step in plain.steps} <= set(names)


@pytest.mark.parametrize("wrong", [3, None, "no_such_file.onnx", torch.nn.ReLU])
def test_what_is_no_program_is_refused_in_words(wrong):
    with pytest.raises((ValueError, OSError)):
        explore(wrong, torch.ones(2))


def test_forms_refuse_nothing_to_show():
    with pytest.raises(ValueError, match="no form"):
        forms([], "empty")


HOSTILE = '<script>alert(1)</script> & "quoted"'


def test_what_a_user_named_is_escaped():
    html = forms([Form(HOSTILE, [(HOSTILE, "1")], HOSTILE)], HOSTILE, HOSTILE).html
    assert "<script" not in html and "id=" not in html


def test_in_a_browser_tabs_and_keys_choose_without_a_script(attention, browser):
    page = browser.new_page(viewport={"width": 390, "height": 800}, java_script_enabled=False)
    page.set_content(attention.page)
    shown = page.locator(".cl-form:visible")
    assert shown.count() == 1 and "@attention" in shown.inner_text()
    page.locator("input.cl-tab0").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert shown.count() == 1 and "define " in shown.inner_text()
    page.get_by_role("radio", name="2", exact=True).focus()
    page.keyboard.press("Space")
    text = shown.inner_text()
    assert "@reduce_max" in text and "@matmul_add_relu" not in text
    page.get_by_role("radio", name="captured graph").focus()
    page.keyboard.press("Space")
    assert "matmul(" in shown.inner_text(), "a graph stays whole, with its lines marked"
    weight = page.locator(".cl-form:visible .cl-of2").evaluate(
        "e => getComputedStyle(e).fontWeight"
    )
    assert weight == "600"
    page.close()
