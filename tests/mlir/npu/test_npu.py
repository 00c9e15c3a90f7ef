"""The NPU dialect from `linalg.matmul` to the chip: every stage means the same, the chip computes
it, and as fast as what the chip's own compiler emits."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.build import build
from course_lib.accelerator.compile.product import matrix
from course_lib.accelerator.compile.search import choose_tile, clocks
from course_lib.accelerator.compile.tiles import PIXELS_FIRST, WEIGHTS_FIRST, WS, Tile, fits
from course_lib.accelerator.isa.text import assemble, disassemble
from course_lib.accelerator.trace.counters import counters
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.node import apply, const
from course_lib.ir.types import TensorType, i8

pytest.importorskip("xdsl")

from course_lib.mlir.npu.counts import commands, least, moved, tiled
from course_lib.mlir.npu.dialect import ProductOp
from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.module import read, verify, written
from course_lib.mlir.npu.npu_interp import interpret, pipeline, product
from course_lib.mlir.npu.stages import STAGES, compile_npu

SMALL = Chip("npu", 4, 3, weights=192, acts=192, accs=16, params=6, banks=(2, 4, 2),
             dma_bytes=4, dma_latency=7, queue=3)  # fmt: skip


def operands(m, k, n, seed=0):
    make = np.random.default_rng(seed)
    x, w = (make.integers(-128, 128, size, np.int8) for size in ((m, k), (k, n)))
    bias = make.integers(-5000, 5000, n, np.int32)
    return x, w, bias, (make.random(n) / 64 / k**0.5).astype(np.float32)


def compilers(m, k, n, chip):
    """Clocks of what target="systolic" emits for the product."""
    return clocks(matrix(m, k, n), choose_tile(matrix(m, k, n), chip), chip)


def every_stage_means(compiled, given, wanted, stages=tuple(STAGES)):
    for stage in stages:
        arrays = compiled.arrays(*given)
        interpret(compiled.modules[stage], arrays)
        assert np.array_equal(arrays[-1], wanted), stage


@pytest.mark.parametrize("name, m, k, n", [
    ("npu", 197, 768, 100), ("npu", 1, 300, 70), ("npu", 64, 64, 64), ("npu", 512, 128, 128),
    ("npu", 3, 5, 7), ("npu", 1000, 27, 10), ("teaching", 17, 33, 9), ("teaching", 50, 20, 21),
    ("teaching", 1, 1, 1), ("scalesim", 100, 300, 70), ("scalesim", 33, 130, 65),
    ("rtl", 3, 5, 7), ("rtl", 33, 130, 65),
])  # fmt: skip
def test_values_are_exact_and_clocks_are_those_of_the_compiler(name, m, k, n, table):
    chip, given = PRESETS[name], operands(m, k, n)
    compiled = compile_npu(linalg_text(m, k, n, low=0), chip)
    got, run = compiled.run(*given)
    assert np.array_equal(got, pipeline(product(*given[:2]), *given[2:], 0, 127))
    assert run.times.left == {}
    theirs = compilers(m, k, n, chip)
    assert run.total <= 1.05 * theirs
    table("Clocks of the NPU dialect", f"{name:<9} {m}x{k}x{n}: {run.total:,}, systolic {theirs:,}")


def test_it_is_what_the_whole_compiler_emits():
    """Not only its search for tiles: the same layer as a graph, built as target="systolic" does."""
    x, w, bias, scale = operands(40, 70, 50)

    def layer(x):
        sums = apply("matmul", x, const(w), sums="i32") + const(bias)
        return apply("requantize", sums, const(scale), axis=1, low=0, high=100)

    made = build(trace(layer, "i8[40,70]"), PRESETS["npu"])
    compiled = compile_npu(linalg_text(40, 70, 50, low=0, high=100), PRESETS["npu"])
    got, run = compiled.run(x, w, bias, scale)
    assert np.array_equal(got, made.run([x])[0])
    assert run.total == made.timing.total
    assert Counter(i.name for i in run.program) == Counter(i.name for i in made.program)


@given(st.data())
def test_any_product_on_any_chip(data):
    size = st.integers(1, 12)
    m, k, n = (data.draw(size) for _ in "mkn")
    banks = tuple(data.draw(st.sampled_from((1, 2, 4))) for _ in "wac")
    chip = Chip(
        "npu", data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6)), data.draw(st.booleans()),
        data.draw(st.booleans()), weights=64 * data.draw(st.integers(1, 8)),
        acts=64 * data.draw(st.integers(1, 8)), accs=4 * data.draw(st.integers(1, 16)),
        params=data.draw(st.integers(1, 8)), banks=banks, dma_bytes=data.draw(st.integers(1, 8)),
        dma_latency=data.draw(st.integers(0, 40)), queue=data.draw(st.integers(1, 20)),
    )  # fmt: skip
    low = data.draw(st.sampled_from((-128, 0)))
    text = linalg_text(m, k, n, low=low)
    try:
        choose_tile(matrix(m, k, n), chip)
    except ValueError:
        with pytest.raises(ValueError, match="does not fit the chip"):
            compile_npu(text, chip)
        return
    given = operands(m, k, n, seed=m * k * n)
    compiled = compile_npu(text, chip)
    wanted = pipeline(product(*given[:2]), *given[2:], low, 127)
    got, run = compiled.run(*given)
    assert np.array_equal(got, wanted)
    assert run.total <= 1.2 * compilers(m, k, n, chip)
    assert assemble(disassemble(compiled.assembled.program)) == compiled.assembled.program


@given(st.data())
def test_any_tile_in_any_order(data):
    """Tiles that nobody would choose: ragged groups, short sums, both orders, one slot."""
    m, k, n = (data.draw(st.integers(1, 8)) for _ in "mkn")
    t = Tile(
        1, data.draw(st.integers(1, m)), data.draw(st.integers(1, k)), data.draw(st.integers(1, 4)),
        data.draw(st.sampled_from((WEIGHTS_FIRST, PIXELS_FIRST))), WS, data.draw(st.booleans()),
    )  # fmt: skip
    if not fits(matrix(m, k, n), t, SMALL):
        return
    compiled = compile_npu(linalg_text(m, k, n), SMALL, choose=lambda product, chip: t)
    given = operands(m, k, n)
    wanted = pipeline(product(*given[:2]), *given[2:], -128, 127)
    every_stage_means(compiled, given, wanted, ("tile", "double_buffer", "keep", "ahead"))
    got, run = compiled.run(*given)
    assert np.array_equal(got, wanted)
    text = compiled.text("double_buffer")
    assert written(verify(read(text))) == text
    (whole,) = (op for op in compiled.modules["product"].walk() if isinstance(op, ProductOp))
    assert moved(compiled.modules["tile"]) == tiled(whole, t)
    kept = moved(compiled.modules["ahead"])
    assert all(least(whole)[name] <= kept[name] <= tiled(whole, t)[name] for name in kept)
    assert sum(kept.values()) == counters(run).dram


@pytest.mark.parametrize("left_out, slower", [
    ("double_buffer", 2.0), ("keep", 1.3), ("rename", 1.0), ("ahead", 1.0),
])  # fmt: skip
def test_every_pass_but_the_lowering_may_be_left_out(left_out, slower):
    """The values stay, the clocks do not."""
    given = operands(100, 300, 170)
    text, chip = linalg_text(100, 300, 170), PRESETS["npu"]
    plain = compile_npu(text, chip, without=[left_out])
    got, run = plain.run(*given)
    assert np.array_equal(got, pipeline(product(*given[:2]), *given[2:], -128, 127))
    assert run.total >= slower * compilers(100, 300, 170, chip)


def test_short_queues_need_loads_ahead():
    text, chip = linalg_text(17, 33, 19), PRESETS["teaching"]
    late, early = (compile_npu(text, chip, without=w).run(*operands(17, 33, 19))[1].total
                   for w in (["ahead"], []))  # fmt: skip
    assert late > 1.2 * early


def test_sums_without_a_pipeline():
    x, w, *_ = operands(17, 33, 9)
    for chip in (PRESETS["npu"], PRESETS["teaching"]):
        compiled = compile_npu(linalg_text(17, 33, 9, pipeline=False), chip)
        every_stage_means(compiled, (x, w), product(x, w))
        assert np.array_equal(compiled.run(x, w)[0], product(x, w))
        assert "stacc" in compiled.text("asm") and "npu.activate" not in compiled.text("tile")


def test_commands_are_counted_as_often_as_they_happen():
    compiled = compile_npu(linalg_text(9, 8, 5), PRESETS["teaching"])
    found = commands(compiled.modules["double_buffer"])
    assert found == {"npu.dma_load": 8, "npu.matmul": 4, "npu.clear": 4, "npu.activate": 4,
                     "npu.dma_store": 4}  # fmt: skip
    assert commands(compiled.modules["ahead"])["npu.dma_load"] == 5  # weights and bias stay


def test_the_wrong_operands_are_refused_in_words():
    compiled = compile_npu(linalg_text(9, 8, 5), PRESETS["teaching"])
    x, w, bias, scale = operands(9, 8, 5)
    with pytest.raises(ValueError, match=r"takes a memref<8x5xi8, #npu.panels<4>.*got \[5, 8\]"):
        compiled.run(x, w.T, bias, scale)


def test_upstream_computes_the_same_from_the_same_text(missing):
    """The witness: MLIR's own lowering of the text that the chip's program is made from."""
    from course_lib.mlir.upstream.engine import Job, available, run_all

    if not available():
        missing("torch-mlir")
    given = operands(19, 37, 23)
    text = linalg_text(19, 37, 23, low=0)
    (theirs,) = run_all([Job(text, "dense", given, [TensorType(i8, (19, 23))])])
    assert not isinstance(theirs, str), theirs
    assert np.array_equal(compile_npu(text, PRESETS["npu"]).run(*given)[0], theirs[0])


def test_a_chip_is_named_and_found_again():
    from course_lib.mlir.npu.machine import chip_of, name_chip

    module = read(linalg_text(3, 4, 5))
    assert chip_of(module) == PRESETS["npu"]
    for chip in (SMALL, *PRESETS.values(), replace(PRESETS["npu"], ghz=1.5, banks=(1, 1, 1))):
        name_chip(module, chip)
        assert chip_of(read(written(module))) == chip
