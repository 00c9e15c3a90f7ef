"""Looking at a kernel: which line became what, what each pass changed, and what LLVM says of it."""

import re
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import course_lib
from course_lib.__main__ import main
from course_lib.commands.look import PICTURES
from course_lib.draw.base.beside import Column, beside
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.nest import Buffer, Kernel, Local, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import dealt_out
from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.inspect.changes import changes, remarks
from course_lib.llvm.inspect.looking import MCA, blocks, look, passes, ports, reasons
from course_lib.llvm.inspect.source import located, source
from course_lib.llvm.jit import emit_module
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.primitives.parallelize import parallelize

KERNELS = {
    "tile": "kernel @tile(x: f32[5,7], w: f32[7,16], out: f32[5,16]) { parallel m in 0..5 { "
    "local acc: f32[16] vector n in 0..16 { acc[n] = 0.0 } for k in 0..7 { vector p in 0..16 { "
    "acc[p] += x[m, k] * w[k, p] } } vector q in 0..16 { out[m, q] = exp(acc[q]) } } }",
    "two_loops": "kernel @two_loops(x: f32[20], out: f32[20]) { for i in 0..5 { out[i] = 0.0 } "
    "parallel j in 5..20 { out[j] = x[j] * 3.0 } }",
    "bare": "kernel @bare(x: f32[100], out: f32[]) { local acc: f32[] acc[] = 0.0 "
    "for i in 0..100 { acc[] += x[i] } out[] = acc[] }",
    "unrolled": "kernel @unrolled(x: f32[3,4], out: f32[4]) { for j in 0..4 { out[j] = 0.0 "
    "unroll u in 0..3 { out[j] += x[u, j] out[j] *= 2.0 } } }",
    "lanes": "kernel @lanes(x: f32[4,8], out: f32[8]) { vector i in 0..8 { local t: f32[] "
    "t[] = 0.0 for k in 0..4 { t[] += x[k, i] } out[i] = exp(t[]) } }",
}


@pytest.fixture(params=KERNELS)
def kernel(request) -> Kernel:
    return parse_kernel(KERNELS[request.param])


def lines_of(text: str, operation: str) -> set[int]:
    """The lines of the loops that instructions of one operation name, in IR as it is emitted."""
    places = dict(re.findall(r"^(!\d+) = !DILocation\(.*?line: (\d+)", text, re.M))
    found = re.findall(rf"^.* {operation} .*!dbg (!\d+)", text, re.M)
    return {int(places[place]) for place in found}


def test_an_instruction_names_the_statement_that_asked_for_it(kernel):
    text, printed = located(kernel), print_kernel(kernel).splitlines()
    stores = {k for k, line in enumerate(printed, 1) if re.search(r"\] (.=|=|\w+=) ", line)}
    assert lines_of(text, "store") == stores
    sums = {k for k, line in enumerate(printed, 1) if "+=" in line or "exp" in line}
    assert lines_of(text, "fadd") == sums
    loops = {k for k, line in enumerate(printed, 1) if re.match(r"\s*(for|parallel)", line)}
    assert lines_of(text, "icmp slt") == loops


def test_locations_change_no_instruction(kernel):
    """What is looked at is what runs, word for word."""
    built = [optimize(text, target_machine()) for text in (located(kernel), emit_module(kernel)[0])]
    looked_at, runs = (re.sub(r" !dbg !\d+|, !dbg !\d+", "", str(m)) for m in built)
    bodies = [re.findall(r"^define .*?^\}", text, re.M | re.S) for text in (looked_at, runs)]
    plain = [[re.sub(r",? !\w[\w.]* !\d+|#\d+", "", body) for body in b] for b in bodies]
    assert plain[0] == plain[1]


def test_every_form_names_lines_of_the_loops(kernel):
    forms = source(kernel)
    last = len(print_kernel(kernel).splitlines())
    for lines in (forms.llvm_ir, forms.assembly):
        numbers = {number for _, number in lines if number}
        assert numbers and max(numbers) <= last
        assert not any("!dbg" in text or ".loc" in text for text, _ in lines)
    assert [number for _, number in forms.loops] == list(range(1, last + 1))


def test_a_product_is_found_in_all_three_forms():
    kernel = parse_kernel(KERNELS["tile"])
    forms = source(kernel)
    (line,) = (number for text, number in forms.loops if "+=" in text)
    assert any("fmul contract" in text and n == line for text, n in forms.llvm_ir)
    assert any(n == line for _, n in forms.assembly)


def test_the_picture_names_the_layer_and_carries_all_numbers():
    x, w = inp("x", "f32[8,16]"), inp("w", "f32[16,16]")
    graph = Graph.of([x, w], [apply("matmul", x, w, origin=("encoder.0.linear",))])
    run = course_lib.compile(graph, [np.zeros(t.type.dims, np.float32) for t in (x, w)])
    assert isinstance(run, CompiledModel)
    kernel = run.program.steps[0].kernel
    assert kernel is not None
    picture = look(kernel)
    assert (
        "computes encoder.0.linear" in picture.html and "computes encoder.0.linear" in picture.text
    )
    assert (
        picture.html.count('type="radio"')
        == len(set(re.findall(r"cl-of(\d+)\"", picture.html))) + 1
    )
    assert "<script" not in picture.html and " id=" not in picture.html


@pytest.mark.parametrize("parallel", ["m", "n", "a", "b"])
def test_the_picture_says_which_parallel_loops_threads_do_not_share(parallel):
    """Those that are not at the top, or stand there beside something else than loops."""
    text = """kernel @k(x: f32[8,8], out: f32[8,8]) {
      for m in 0..8 { for n in 0..8 { out[m, n] = x[m, n] } }
      for a in 0..8 { for b in 0..8 { out[a, b] += x[b, a] } }
    }"""
    loops = parallelize(parse_kernel(text), parallel)
    beside = replace(loops, body=(Local(Buffer("t", loops.out.type)), *loops.body))
    for kernel, shared in ((loops, parallel in "ma"), (beside, False)):
        _, parts = emit_module(kernel)
        assert any(part.parallel for part in parts) == shared
        assert [loop.var for loop in dealt_out(kernel)] == [parallel] * shared
        assert (f"one thread runs parallel {parallel}" in look(kernel).text) != shared


def test_passes_begin_with_what_is_emitted_and_end_with_what_is_optimized(kernel):
    text, _ = emit_module(kernel)
    steps = changes(text)
    assert steps[0][0] == "as emitted"
    names = [name for name, _ in steps]
    assert any(name.startswith("SROA") for name in names) or "local" not in print_kernel(kernel)
    assert all(before != after for (_, before), (_, after) in pairwise(steps))
    final = re.findall(r"^define .*?^\}", str(optimize(text, target_machine())), re.M | re.S)
    for function in final:
        for line in function.splitlines()[1:]:
            assert line.split(";")[0].rstrip() in steps[-1][1]


def test_loop_passes_are_among_them():
    names = [name for name, _ in changes(emit_module(parse_kernel(KERNELS["tile"]))[0])]
    assert any(name.startswith("LoopRotate on loop %") for name in names)
    picture = passes(parse_kernel(KERNELS["tile"]))
    assert f"{len(names) - 1}. {names[-1]}" in picture.text


def test_control_flow_shows_how_often_blocks_run():
    first, second = blocks(parse_kernel(KERNELS["two_loops"]))
    assert "entry: runs 1" in first.text and "->" in second.text
    (tile,) = blocks(parse_kernel(KERNELS["tile"]))
    assert "multiply-adds" in tile.svg and "runs 5" in tile.text  # the parallel loop


def test_remarks_speak_of_lines_of_the_loops():
    kernel = parse_kernel(KERNELS["tile"])
    said = remarks(located(kernel))
    last = len(print_kernel(kernel).splitlines())
    assert said and all(line is None or 1 <= line <= last for line, _ in said)
    assert any("unrolled loop" in words for _, words in said)
    assert "unrolled loop" in reasons(kernel).text


def test_invalid_ir_is_refused_in_words():
    with pytest.raises(ValueError, match="LLVM refuses this module"):
        changes("define i32 @f() {\n  ret i64 0\n}\n")


def test_llvm_mca_speaks_of_the_processor(require_tool, monkeypatch, tmp_path):
    require_tool("llvm-mca-22")
    kernel = parse_kernel(KERNELS["bare"])
    assert "Total Cycles:" in ports(kernel).text
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="llvm-mca is not installed"):
        ports(kernel)


def test_lines_that_belong_together_can_be_chosen_by_key(browser):
    """Tab, then the arrow keys: the other text keeps only what belongs to the chosen line."""
    left = Column("loops", [("first", 1), ("second", 2), ("third", 3)])
    right = Column("assembly", [("one", 1), ("three", 3), ("nobody's", None), ("three too", 3)])
    page = browser.new_page()
    page.set_content(beside([left, right], "title").page)
    assert page.get_by_text("nobody's").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shown = [w for w in ("one", "three too", "nobody's") if page.get_by_text(w).is_visible()]
    assert shown == ["three too"]
    assert page.get_by_text("second").is_visible()  # the first text stays whole


def test_two_or_three_texts_stand_side_by_side():
    with pytest.raises(ValueError, match="2 or 3 texts"):
        beside([Column("alone", [])], "title")


# ── the command ──


def test_the_command_lists_kernels_and_draws_one(tmp_path, capsys):
    assert main(["look", "mlp"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("@matmul_add_relu_0  computes 0, 1")
    for what in PICTURES:
        if what == "ports" and not any(map(shutil.which, MCA)):
            continue
        page = tmp_path / f"{what}.html"
        command = ["look", "mlp", "--kernel", "matmul_add_relu_0", "--what", what, "-o", str(page)]
        assert main(command) == 0
        assert "matmul_add_relu_0" in page.read_text()
        assert f"{what} of @matmul_add_relu_0 written to" in capsys.readouterr().out
    assert main(["look", "mlp", "--kernel", "matmul_add_relu_7", "--json"]) == 1
    assert "did you mean matmul_add_relu_" in capsys.readouterr().out
