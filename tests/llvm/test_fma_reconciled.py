"""One amount of work, counted three ways: by a formula, in LLVM IR, and by a chip clock by clock.

A product [m, k] by [k, n] is m * k * n multiply-adds. The op table says so, the loops of LLVM IR
execute them, and the cells of a systolic array do. What LLVM's optimizer leaves depends on the
processor, so that is counted in the corpus, for one processor.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import course_lib
from course_lib.__main__ import main
from course_lib.accelerator.systolic import SystolicArray, wavefront
from course_lib.accelerator.workload import products as products_of
from course_lib.exercises import NotAnswered, plugged
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.registry import flops
from course_lib.llvm.inspect.fma import count_fma
from course_lib.llvm.inspect.work import operations, products, total, work
from course_lib.runtime.executable import CompiledModel

X = np.random.default_rng(0).standard_normal


def graph(op: str, *types: str, **attrs) -> Graph:
    operands = [inp(f"x{k}", type) for k, type in enumerate(types)]
    return Graph.of(operands, [apply(op, *operands, **attrs)])


def windows(x: np.ndarray, kernel: int, stride: int) -> np.ndarray:
    """One row for each window of an image [1, c, h, w]: what a convolution multiplies."""
    cut = np.lib.stride_tricks.sliding_window_view(x[0], (kernel, kernel), axis=(1, 2))
    cut = cut[:, ::stride, ::stride]
    return cut.transpose(1, 2, 0, 3, 4).reshape(-1, x.shape[1] * kernel * kernel)


CORPUS = Path(__file__).parent / "corpus"
MATMUL = X((12, 10), np.float32), X((10, 32), np.float32)
RAGGED = X((13, 9), np.float32), X((9, 21), np.float32)
CONV = X((1, 2, 6, 6), np.float32), X((4, 2, 3, 3), np.float32)
STRIDED = X((1, 3, 9, 9), np.float32), X((8, 3, 3, 3), np.float32)
CASES = {
    "matmul": (graph("matmul", "f32[12,10]", "f32[10,32]"), MATMUL, MATMUL),
    "ragged": (graph("matmul", "f32[13,9]", "f32[9,21]"), RAGGED, RAGGED),
    "conv": (
        graph("conv", "f32[1,2,6,6]", "f32[4,2,3,3]"),
        CONV,
        (windows(CONV[0], 3, 1), CONV[1].reshape(4, -1).T),
    ),
    "strided": (
        graph("conv", "f32[1,3,9,9]", "f32[8,3,3,3]", strides=(2, 2)),
        STRIDED,
        (windows(STRIDED[0], 3, 2), STRIDED[1].reshape(8, -1).T),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_formula_machine_code_and_chip_agree(name):
    model, inputs, (a, b) = CASES[name]
    (m, k), n = a.shape, b.shape[1]
    (product,) = products_of(model)
    assert (product.m, product.k, product.n) == (m, k, n)
    formula = sum(flops(node) for node in model.ops) // 2

    chip = wavefront(a, b, SystolicArray(4, 4))
    run = course_lib.compile(model, list(inputs))
    assert isinstance(run, CompiledModel)
    emitted = total(work(run.program, run.code), lambda w: products(w.emitted))
    assert formula == m * k * n == chip.macs == emitted
    result = run(*inputs)  # and it is the same product that the two machines compute
    result = result.reshape(n, m).T if result.ndim == 4 else result
    assert np.allclose(result, chip.values, atol=1e-4)
    if name in ("matmul", "conv"):
        text = (CORPUS / f"{name}.ll").read_text()
        said = json.loads(re.findall(r"^; expect (.*)$", text, re.M)[0])
        count = count_fma(text, said["given"])[said["function"]].dynamic
        assert products(count) == formula


def test_a_multiply_add_is_counted_as_two_operations():
    model, inputs, _ = CASES["ragged"]
    run = course_lib.compile(model, list(inputs))
    assert isinstance(run, CompiledModel)
    (kernel,) = work(run.program, run.code)
    assert operations(kernel.emitted) == kernel.flops == 2 * 13 * 9 * 21
    assert operations(None) is None and products(None) is None
    assert total([kernel], lambda w: None) is None


def test_the_command_counts_every_kernel_of_a_model(capsys):
    assert main(["fma", "mlp", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    shapes = ((784, 512), (512, 512), (512, 10))
    assert [k["emitted"]["pair"] for k in data["kernels"]] == [a * b for a, b in shapes]
    relus = 512 + 512  # the op table counts a maximum, no sum or product
    assert data["flops"]["op_table"] == data["flops"]["emitted"] + relus
    assert "optimized" in data["flops"]  # whose number is the processor's


def test_the_command_reads_a_file(tmp_path, capsys):
    path = tmp_path / "f.ll"
    path.write_text(
        "define void @f(ptr %x, i64 %n) {\nentry:\n  br label %loop\nloop:\n"
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
        "  %v = load float, ptr %x\n  %p = fmul contract float %v, %v\n"
        "  %s = fadd contract float %p, %v\n  store float %s, ptr %x\n"
        "  %next = add i64 %i, 1\n  %more = icmp slt i64 %next, %n\n"
        "  br i1 %more, label %loop, label %done\ndone:\n  ret void\n}\n"
    )
    assert main(["fma", str(path), "--given", "n=7"]) == 0
    assert "in one call:     7 pair" in capsys.readouterr().out
    assert main(["fma", str(path)]) == 0
    assert "loop: what the loop counts does not begin" in capsys.readouterr().out
    assert main(["fma", str(path), "--given", "n=many"]) == 1
    assert "NAME=NUMBER, got n=many" in capsys.readouterr().err
    path.write_text("no LLVM IR")
    assert main(["fma", str(path)]) == 1
    assert "error:" in capsys.readouterr().err


def test_the_command_says_that_an_exercise_has_no_answer(capsys):
    """In a student's edition, before its unit is done."""

    def missing(text: str) -> None:
        raise NotAnswered("llvm.fma.arithmetic")

    with plugged("llvm.fma.arithmetic", missing):
        assert main(["fma", str(CORPUS / "matmul.ll")]) == 1
    assert "error: llvm.fma.arithmetic has no answer yet" in capsys.readouterr().err
