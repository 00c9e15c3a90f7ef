"""Unit 10: its figures are counted here, its recorded texts are what MLIR and others say."""

from __future__ import annotations

import re

import numpy as np
import pytest

from autograder.check.framework import Wrong, mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.check.modules import normal
from course_lib.exercises import plugged, slot, using
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import PIPELINES, Pipeline
from lessons.u10 import native, program, recorded, wild

pytest.importorskip("xdsl")
pytest.importorskip("filecheck")

from autograder.units.u10.checks import texts, the_pass_and_what_it_breaks
from autograder.units.u10.checks.lowering import PROGRAMS
from lessons.u10 import dialect, meaning, tensors

LOWER = Pipeline("lowered", (("lower-affine", ""),))
HEARD = ["u10.culprit", "u10.product", "u10.matmul", "u10.sunk", "u10.tested", "u10.lowered"]


@pytest.fixture
def torch_mlir():
    pytest.importorskip("torch_mlir")
    return "torch-mlir"


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict = judge(name, call, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


def test_our_answer_about_the_pages_is_what_the_pages_compute():
    """The first page that no longer computes a · b, and where."""
    a, b = np.random.default_rng(3).permutation(18).reshape(2, 3, 3).astype("f4") + 2
    wrong = ((program.short(name), ran(text or shown, a, b) != a * b)
             for name, shown, text in recorded.TWICE)  # fmt: skip
    name, where = next((name, where) for name, where in wrong if where.any())
    told, elements = slot("u10.culprit").reference()
    assert (told, sorted(elements)) == (name, [tuple(at) for at in np.argwhere(where).tolist()])


def ran(text: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What @main makes of two arrays of one shape, by xDSL's interpreter."""
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.interpreter import Interpreter
    from xdsl.interpreters import register_implementations
    from xdsl.interpreters.shaped_array import ShapedArray
    from xdsl.interpreters.utils.ptr import TypedPtr
    from xdsl.parser import Parser

    every = Context()
    for name, load in get_all_dialects().items():
        every.register_dialect(name, load)
    module = Parser(every, text, "program").parse_module()
    module.verify()
    interpreter = Interpreter(module)
    register_implementations(interpreter, every)
    given = [ShapedArray(TypedPtr.new_float32([float(v) for v in x.flat]), [*x.shape])
             for x in (a, b)]  # fmt: skip
    (result,) = interpreter.call_op("main", tuple(given))
    return np.array([*result.data]).reshape(result.shape)


@pytest.mark.parametrize(
    "name, points", [("one_for_each_operation", 2), ("one_for_each_sum_and_product", 3)]
)
def test_what_the_text_of_the_lowering_promises_for_more_operations(name, points):
    with plugged("u10.lowered", mutants_of("u10.lowered")[name]):
        call = Here(slot("u10.lowered"))
        with using({}):
            assert judge("u10.lowered", call, shrink=False).earned == points


def test_what_fusion_on_tensors_leaves(torch_mlir):
    """One operation that reads both inputs; without the first pass, all four stay as they are."""
    assert native.on_tensors() == native.RECORDED_LEFT._replace(by="torch-mlir 20261001")
    alone = Pipeline("fusion alone", native.FUSED.steps[1:])
    left = passed(recorded.TWICE[0][1], alone, torch_mlir).states[-1].text
    assert left.count("= linalg.") == 4 and "linalg.generic" not in left


def test_where_mlir_is_missing_the_table_says_that_it_is_recorded(monkeypatch):
    def missing(*_):
        raise ValueError("no tool of MLIR's is installed")

    monkeypatch.setattr(native, "passed", missing)
    assert native.on_tensors() == native.RECORDED_LEFT
    assert "recorded with torch-mlir 20261001 (any machine, 2026-11-23)" in repr(
        wild.systems_table()
    )


def test_the_steps_of_the_wrong_pass_say_that_they_are_recorded_and_when():
    page = program.walk("twice").text
    assert "recorded with torch-mlir 20261001 (any machine, 2026-11-23)" in page


def test_the_steps_of_the_wrong_pass_begin_with_buffers_and_mark_what_changed():
    """The text before them, in tensors, is printed above."""
    page = program.walk("twice")
    assert "linalg-generalize-named-ops" not in page.text and "one-shot-bufferize" in page.text
    assert re.search(r"^\+ .*affine.for", page.text, re.MULTILINE)
    assert not re.search(r"^− ", page.text, re.MULTILINE), "lines that are gone are not to be read"


def test_a_pass_that_no_page_shows_is_told_which_ones_they_show():
    headings = re.findall(r"^\d+\. (\S+)$", program.walk("twice").text, re.MULTILINE)
    with pytest.raises(Wrong) as caught:
        the_pass_and_what_it_breaks(lambda: ("linalg-generalize-named-ops", [(1, 0)]))
    assert caught.value.expected == f"one of {', '.join(headings)}"


def test_a_wrong_list_of_elements_names_none():
    """A student who tries again and again would otherwise get one more each time."""
    for elements, says in (([(1, 0)], "is not in your list"), ([(0, 0)], "of your list is right")):
        with pytest.raises(Wrong, match=says) as caught:
            the_pass_and_what_it_breaks(lambda elements=elements: ("affine-loop-fusion", elements))
        assert "2" not in caught.value.problem


def test_a_text_that_is_no_module_is_told_where():
    text = "module {\n  func.func @main(%x f32) {\n    func.return\n  }\n}"
    assert "module:2:" in tensors.parses(text)
    assert tensors.parses(" ") == "the text is empty"
    assert tensors.parses(slot("u10.product").reference(2, 3, 4)).startswith("a valid module")


def test_the_numbers_of_the_opening_question():
    """The machine code of 64 × 64 numbers, and what of it is wrong: all below the diagonal."""
    assert {name: native.measured(name) for name in native.CASES} == native.RECORDED
    assert native.RECORDED["fused, a shared buffer"].wrong == 64 * 63 // 2
    plain = program.state("twice", "convert-linalg-to-affine-loops")
    assert [plain.count(f"affine.{word}") for word in ("for", "load", "store")] == [8, 5, 4]
    fused = program.state("twice", "affine-scalrep")
    assert [fused.count(f"affine.{word}") for word in ("for", "load", "store")] == [4, 3, 2]
    own = program.state("own", "affine-scalrep")
    assert [own.count(f"affine.{word}") for word in ("for", "load", "store")] == [2, 2, 1]


def test_the_bill_counts_what_a_pattern_left():
    """Loop nests, loads, stores and wrong numbers."""
    from autograder.units.u10.checks.programs import toy

    text = toy("t = transpose a; u = transpose b; p = mul t u; q = transpose p; return q")
    assert native._of_toy(text) == (4, 5, 4, 0)
    assert native._of_toy(text.replace("toy.mul", "toy.add"))[3] == 6


def test_a_program_that_is_read_twice_is_two_modules():
    """A pattern may do to its module what it likes; and both print as what was read."""
    text = PROGRAMS[-1]
    one, other = (dialect.parsed(text) for _ in range(2))
    assert str(one) == str(other) and normal(dialect.written(one)) == normal(text)
    *_, last, returned = meaning.first_function(one).block.ops
    returned.operands[0] = last.operands[0]
    assert str(one) != str(other) == str(dialect.parsed(text))


def test_the_lines_that_are_guessed():
    states = program.steps("mm_relu").states
    assert len(states) == 1 + 16
    assert [program.lines(states[k].text) for k in (0, -1)] == [19, 204]
    assert len(states) - len(program.changed(program.steps("mm_relu")).states) == 6
    left = [op for op in re.findall(r"= (\w+\.\w+)", states[-1].text) if op[:5] != "llvm."]
    assert left == []
    assert all("cf." not in state.text for state in states[-1:])


def test_four_passes_decide_what_the_table_says():
    def has(pass_, word):
        return word in program.state("mm_relu", pass_)

    assert has("eliminate-empty-tensors", "tensor<") and not has("one-shot-bufferize", "tensor<")
    assert not has("one-shot-bufferize", "scf.for") and has("convert-linalg-to-loops", "scf.for")
    assert has("lower-affine", "scf.for") and not has("convert-scf-to-cf", "scf.for")
    assert has("convert-index-to-llvm", "memref.load")
    assert not has("finalize-memref-to-llvm", "memref.load")


def test_what_torch_mlir_was_recorded_to_say_mlir_opt_says_too(mlir_tool):
    """If this fails because a pass of MLIR's is right now, the text must say which version is."""
    tool = mlir_tool("mlir-opt-22")
    for given, kept in ((program.TWICE, recorded.TWICE), (program.OWN, recorded.OWN)):
        done = passed(given, program.LOOPS, tool)
        assert done.trouble == ""
        assert done.tool == "mlir-opt 22.1.8", "the version that the text names"
        states = {state.passes: _tidy(state.text) for state in done.states}
        assert kept is recorded.OWN or list(states) == [name for name, _, _ in kept]
        for name, text, lowered in kept:
            assert states[name] == text
            assert bool(lowered) == ("affine." in text)
            if lowered:
                assert lowered == _tidy(passed(text, LOWER, tool).states[-1].text)


@pytest.mark.parametrize("which", ["torch-mlir", "mlir-opt-22"])
def test_equal_operations_that_are_merged_make_it_wrong(which, mlir_tool):
    """With an empty tensor for each result it is right, unless `cse` runs first."""
    tool = mlir_tool(which)
    merged = Pipeline("merged", (("cse", ""), *program.LOOPS.steps[:6]))
    assert _tidy(passed(program.OWN, merged, tool).states[-1].text) == program.state(
        "twice", "affine-scalrep"
    )


def test_torch_mlir_names_one_empty_tensor_for_all_four(torch_mlir):
    torch = pytest.importorskip("torch")
    from torch_mlir import fx

    class Twice(torch.nn.Module):
        def forward(self, a, b):
            return (a.T * b.T).T

    a, b = torch.zeros(3, 3), torch.ones(3, 3)
    made = fx.export_and_import(Twice(), a, b, output_type="linalg-on-tensors")
    text = made.operation.get_asm(use_local_scope=True)
    assert text.count("tensor.empty") == 1
    assert text.count("outs(%0 :") == 4


def _tidy(text):
    return "".join(f"{line.rstrip()}\n" for line in text.strip().splitlines())


def test_fusing_on_tensors_leaves_one_product(torch_mlir):
    done = passed(program.TWICE, PIPELINES["fused"], torch_mlir)
    text = done.states[-1].text
    assert text.count("linalg.generic") == text.count("linalg.") - text.count("linalg.yield") == 1
    assert text.count("affine_map<(d0, d1) -> (d0, d1)>") == 3


def test_what_torch_mlir_makes_of_the_product_and_the_relu(torch_mlir):
    torch = pytest.importorskip("torch")
    from torch_mlir import fx

    class Layer(torch.nn.Module):
        def forward(self, x, w):
            return torch.relu(torch.mm(x, w))

    made = fx.export_and_import(
        Layer(), torch.zeros(4, 8), torch.zeros(8, 16), output_type="linalg-on-tensors"
    )
    text = made.operation.get_asm(use_local_scope=True)
    assert "".join(wild.TORCH.split()) in "".join(text.split())


def test_a_product_of_ours_goes_through_mlir(torch_mlir):
    from autograder.units.u10.exercises import product

    done = passed(product(4, 8, 16), PIPELINES["loops"], torch_mlir)
    assert done.trouble == ""
    assert "memref.load %arg0[%arg5, %arg3]" in done.states[-1].text


MAIN = "func.func @main(%x: tensor<3x2xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32>"
HOSTILE = {
    "brackets": "(" * 10_000,
    "regions": "module {" * 40 + "}" * 40,
    "a tensor without end": "module { %0 = arith.constant dense<0.0> : tensor<99999x99999xf32> }",
    "a string without end": 'module { "' + "a\\" * 40,
    "a long text": "// " + "x" * 30_000,
    "no text": "",
    "no main": "module {}",
    "another main": "module { func.func @main() { return } }",
    "calls": f"module {{ {MAIN} {{" + """
        %0 = func.call @main(%x, %w) : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        return %0 : tensor<2x4xf32> } }""",
    "a large nest": f"module {{ {MAIN} {{" + """
        %e = tensor.empty() : tensor<4096xf32>
        %r = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
            iterator_types = ["parallel", "parallel"]} ins(%e : tensor<4096xf32>)
            outs(%e : tensor<4096xf32>) {
        ^bb0(%a: f32, %b: f32):
          linalg.yield %a : f32
        } -> tensor<4096xf32>
        return %r : tensor<4096xf32> } }""",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_a_wrong_answer(text):
    from autograder.units.u10.checks.products import right_product
    from autograder.units.u10.checks.programs import toy
    from autograder.units.u10.checks.transposes import kept_meaning

    given = toy("return c", c=(3, 2))

    with pytest.raises(Wrong):
        right_product(lambda m, k, n: text, 2, 3, 4)
    with pytest.raises(Wrong):
        kept_meaning(lambda given: text, given)


def test_an_interpreter_of_tensors_agrees_with_numpy():
    from lessons.u10.tensors import outputs

    x, w = np.random.default_rng(0).standard_normal((2, 5, 3)).astype("f4")
    got = outputs(slot("u10.product").reference(3, 5, 3), [x, w], 9.0)
    assert np.allclose(got, np.maximum(x.T @ w, 0), atol=1e-5)


def test_nothing_needs_xdsl_but_the_answers(monkeypatch):
    """Without it the numbers of the opening question are those that were recorded."""
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    assert "2,016 of 4,096" in native.opening()


def test_directives_that_filecheck_does_not_take_are_named():
    """A CHECK-LABEL gives no variable its value."""
    (text, *_), *_ = texts(np.random.default_rng(0), 1, 0)
    asked = "CHECK-LABEL: @twice([[A:%[^:]+]]:\nCHECK-NEXT: [[P:%[^ ]+]] = toy.mul [[A]],\n"
    with pytest.raises(ValueError, match=r"Variable A referenced .* at `.* toy.mul \[\[A\]\],`"):
        dialect.filechecked(text, asked)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sums_become_products", "The program computes the same"),
        ("forgets_the_shape_of_the_result", "every shape that was known stays known"),
        ("forgets_the_shape_inside", "has a known shape if both of its operands have"),
        (
            "forgets_the_shape_inside_if_the_result_is_unknown",
            "has a known shape if both of its operands have",
        ),
        ("exchanges_the_operands", "with its operands in the same order"),
    ],
)
def test_a_wrong_pattern_quotes_the_sentence_that_it_breaks(name, says):
    with plugged("u10.sunk", mutants_of("u10.sunk")[name]):
        call = Here(slot("u10.sunk"))
        with using({}):
            assert says in judge("u10.sunk", call, shrink=False).spec
