"""Programs written by hand, at which a careless pass would go wrong: the meaning stays."""

import numpy as np
import pytest

pytest.importorskip("xdsl")

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.core.simulate import simulate
from course_lib.mlir.npu.layout import entries, panels
from course_lib.mlir.npu.module import functions, read, verify
from course_lib.mlir.npu.npu_interp import interpret
from course_lib.mlir.npu.rules import shape
from course_lib.mlir.npu.stages import PASSES, STAGES, compile_npu

X = "memref<12x4xi8, #npu.space<dram>>"
XS, T = "memref<{}x4x4xi8, #npu.space<acts>>", "memref<4x4xi8, #npu.space<acts>>"
WS, W = "memref<1x4x4xi8, #npu.space<weights>>", "memref<4x4xi8, #npu.space<weights>>"
SS, S = "memref<{}x8x4xi32, #npu.space<accs>>", "memref<4x4xi32, #npu.space<accs>>"
Y = "memref<12x4xi32, #npu.space<dram>>"
HEAD = 'module attributes {npu.chip = {preset = "teaching"}} { func.func @f'


def means_the_same(text, *passes):
    """What the function leaves in its arrays, before and after some passes; the module after."""
    module = verify(read(text))
    arrays = [np.zeros(shape(a), np.int8 if "i8" in str(a.type) else np.int32)
              for a in functions(module)[0].body.block.args]  # fmt: skip
    make = np.random.default_rng(1)
    for array in arrays:
        array[...] = make.integers(-100, 100, array.shape)
    wanted, got = ([array.copy() for array in arrays] for _ in range(2))
    interpret(module, wanted)
    for name in passes:
        PASSES[name](module)
        verify(module)
    interpret(module, got)
    for a, b in zip(wanted, got, strict=True):
        assert np.array_equal(a, b)
    return module


def test_a_buffer_that_is_read_before_it_is_loaded_keeps_its_slot():
    """A loop that the programmer has pipelined: each turn stores what the one before has loaded."""
    xs = XS.format(1)
    text = f"""{HEAD}(%x: {X}, %y: {X}) {{
      %xs = npu.buffer : {xs}
      affine.for %i = 0 to 8 step 4 {{
        %t = npu.slot %xs[0] [4, 4] : {xs} to {T}
        npu.dma_store %t to %y[%i, 0] [4, 4] : {T} to {X}
        npu.dma_load %x[%i, 0] [4, 4] to %t : {X} to {T}
      }}
      func.return
    }} }}"""
    module = means_the_same(text, "double_buffer", "unroll", "keep", "ahead")
    assert "memref<1x4x4xi8" in str(module)
    right = text.replace("npu.dma_store %t to %y[%i, 0] [4, 4] : " + f"{T} to {X}\n", "")
    assert "memref<2x4x4xi8" in str(means_the_same(right, "double_buffer"))


def test_sums_that_live_long_are_not_given_to_others():
    """%a is begun first and stored last; %b begins again and again in between."""
    ss, xs = SS.format(2), XS.format(1)
    again = "".join(
        f"""
      npu.clear %b : {S}
      npu.matmul %t, %w into %b : {T}, {W} into {S}
      npu.dma_store %b to %y[{row}, 0] [4, 4] : {S} to {Y}"""
        for row in (0, 4, 0, 4, 0, 4, 0, 4)
    )
    text = f"""{HEAD}(%x: {X}, %v: memref<4x4xi8, #npu.space<dram>>, %y: {Y}) {{
      %xs = npu.buffer : {xs}
      %ws = npu.buffer : {WS}
      %ss = npu.buffer : {ss}
      %t = npu.slot %xs[0] [4, 4] : {xs} to {T}
      %w = npu.slot %ws[0] [4, 4] : {WS} to {W}
      %a = npu.slot %ss[0] [4, 4] : {ss} to {S}
      %b = npu.slot %ss[1] [4, 4] : {ss} to {S}
      npu.dma_load %v[0, 0] [4, 4] to %w : memref<4x4xi8, #npu.space<dram>> to {W}
      npu.dma_load %x[8, 0] [4, 4] to %t : {X} to {T}
      npu.clear %a : {S}
      npu.matmul %t, %w into %a : {T}, {W} into {S}
      npu.dma_load %x[4, 0] [4, 4] to %t : {X} to {T}{again}
      npu.dma_store %a to %y[8, 0] [4, 4] : {S} to {Y}
      func.return
    }} }}"""
    module = means_the_same(text, "keep", "rename", "overwrite", "ahead")
    assert "npu.clear" not in str(module)


def test_a_load_of_what_the_work_before_stores_is_not_moved_ahead():
    xs = XS.format(2)
    text = f"""{HEAD}(%x: {X}, %y: {X}) {{
      %xs = npu.buffer : {xs}
      %a = npu.slot %xs[0] [4, 4] : {xs} to {T}
      %b = npu.slot %xs[1] [4, 4] : {xs} to {T}
      npu.dma_load %x[0, 0] [4, 4] to %a : {X} to {T}
      npu.dma_store %a to %y[0, 0] [4, 4] : {T} to {X}
      npu.dma_load %y[0, 0] [4, 4] to %b : {X} to {T}
      npu.dma_store %b to %y[8, 0] [4, 4] : {T} to {X}
      func.return
    }} }}"""
    means_the_same(text, "keep", "ahead")


@pytest.mark.parametrize("m, k, h, n", [(7, 12, 9, 5), (5, 4, 4, 4)])
def test_two_layers_in_one_program(m, k, h, n):
    """The second product reads from DRAM what the first one has stored there."""
    chip = PRESETS["teaching"]
    cols = chip.cols

    def array(*sizes, layout="", kind="i8"):
        return f"memref<{'x'.join(map(str, sizes))}x{kind}, {layout}#npu.space<dram>>"

    panel = f"#npu.panels<{cols}>, "
    entry = [array(-(-size // cols), 2, cols, kind="i32") for size in (h, n)]
    x, hidden, y = array(m, k), array(m, h), array(m, n)
    v, w = array(k, h, layout=panel), array(h, n, layout=panel)
    text = f"""func.func @mlp(%x: {x}, %v: {v}, %p: {entry[0]}, %h: {hidden}, %w: {w},
                              %q: {entry[1]}, %y: {y}) {{
      npu.product %x, %v, %p into %h {{low = 0 : i64}} : {x}, {v}, {entry[0]} into {hidden}
      npu.product %h, %w, %q into %y : {hidden}, {w}, {entry[1]} into {y}
      func.return
    }}"""
    make = np.random.default_rng(2)
    bias, scale = (
        make.integers(-99, 99, (2, max(h, n)), np.int32),
        make.random((2, max(h, n))) / 500,
    )
    given = [
        make.integers(-128, 128, (m, k), np.int8), make.integers(-128, 128, (k, h), np.int8),
        entries(bias[0][:h], scale[0][:h], cols), np.zeros((m, h), np.int8),
        make.integers(-128, 128, (h, n), np.int8), entries(bias[1][:n], scale[1][:n], cols),
        np.zeros((m, n), np.int8),
    ]  # fmt: skip
    compiled = compile_npu(text, chip)
    results = []
    for stage in STAGES:
        arrays = [array.copy() for array in given]
        interpret(compiled.modules[stage], arrays)
        results.append(arrays[-1])
    made = compiled.assembled
    dram = np.zeros(made.size, np.int8)
    for number, (at, value) in enumerate(zip(made.arrays, given, strict=True)):
        flat = panels(value, cols) if number in (1, 4) else value.ravel()
        dram[at : at + flat.nbytes] = flat.view(np.int8)
    simulate(made.program, dram, chip)
    results.append(dram[made.arrays[-1] :][: m * n].reshape(m, n))
    assert results[0].any() and all(np.array_equal(results[0], each) for each in results)
