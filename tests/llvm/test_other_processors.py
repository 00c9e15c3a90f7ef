"""Kernels for processors that are not here: they are emitted, and what a GPU would run is right.

No GPU is needed to know that: a thread's code is ordinary LLVM IR but for the questions "who am I"
and the address spaces. With those answered from two variables it runs here, thread by thread.
"""

import ctypes
import re
import shutil
import subprocess

import llvmlite.binding as llvm
import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine as host
from course_lib.llvm.processors import (
    PROCESSORS,
    THREADS,
    assembly,
    llvm_ir,
    target_machine,
    threads_of,
)
from course_lib.lower.lower import lower
from course_lib.passes.prepare.decompose import decompose
from lessons.u06.kernels import tile
from lessons.u06.listings import MULTIPLY_ADDS, layer

GPUS = [name for name, processor in PROCESSORS.items() if processor.gpu]
GRAPHS = {
    "softmax": "softmax(%x) {axis = 1} : f32[6,10]",
    "exp": "exp(%x) : f32[6,10]",
    "rows": "reduce_sum(%x) {axes = [1], keepdims = false} : f32[6]",
}
SMALL = """
kernel @small(x: f32[5,7], w: f32[7,9], out: f32[5,9]) {
  for m in 0..5 {
    for n in 0..9 {
      local acc: f32[]
      acc[] = 0.0
      for k in 0..7 {
        acc[] += x[m, k] * w[k, n]
      }
      out[m, n] = relu(acc[])
    }
  }
}"""
LOOPS = """
kernel @two(x: f32[300], out: f32[300]) {
  for i in 0..300 {
    out[i] = x[i] * 2.0
  }
  for j in 3..300 {
    out[j] = out[j] + x[j - 3]
  }
}"""
CHAIN = """
kernel @chain(x: f32[8], out: f32[8]) {
  out[0] = x[0]
  for i in 1..8 {
    out[i] = out[i - 1] + x[i]
  }
}"""


def gpu_of(processor):
    gpu = PROCESSORS[processor].gpu
    assert gpu is not None
    return gpu


def on_this_machine(kernel, processor):
    """The GPU's LLVM IR, with the thread's number read from a variable."""
    text, gpu = llvm_ir(kernel, processor), gpu_of(processor)
    text = re.sub(r"target (triple|datalayout) = .*\n", "", text)
    text = re.sub(r",? addrspace\(\d\)", "", text).replace(gpu.convention, "")
    for name in (gpu.block, gpu.thread):
        text = re.sub(rf'declare i32 @"{re.escape(name)}"\(\)', "", text)
        text += (f'\n@"at.{name}" = global i32 0\ndefine i32 @"{name}"() {{\n'
                 f'  %v = load i32, ptr @"at.{name}"\n  ret i32 %v\n}}\n')  # fmt: skip
    return text.replace("llvm.nvvm.", "nvvm.").replace("llvm.amdgcn.", "amdgcn.")


def run_threads(kernel, processor, arrays, blocks):
    text, gpu = on_this_machine(kernel, processor), gpu_of(processor)
    engine = llvm.create_mcjit_compiler(optimize(text, host()), host())
    engine.finalize_object()
    names = [f"at.{name.removeprefix('llvm.')}" for name in (gpu.block, gpu.thread)]
    block, thread = (ctypes.c_int32.from_address(engine.get_global_value_address(n)) for n in names)
    for symbol in re.findall(rf'define\s+void @"({kernel.name}\w*)"', text):
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(
            engine.get_function_address(symbol)
        )
        for block.value in range(blocks):
            for thread.value in range(THREADS):
                function(*(array.ctypes.data for array in arrays.values()))


@pytest.mark.parametrize("processor", GPUS)
@pytest.mark.parametrize("text", [SMALL, LOOPS, CHAIN])
def test_the_threads_together_compute_the_kernel(text, processor):
    kernel = parse_kernel(text)
    rng = np.random.default_rng(0)
    ours = {p.name: rng.integers(-4, 5, p.type.dims).astype(np.float32) for p in kernel.params}
    theirs = {name: array.copy() for name, array in ours.items()}
    run_threads(kernel, processor, ours, blocks=3)
    run_kernel(kernel, theirs)
    np.testing.assert_allclose(ours["out"], theirs["out"])


def test_independent_outer_loops_become_threads():
    around, work = threads_of(parse_kernel(SMALL).body)
    assert [loop.var for loop in around] == ["m", "n"]
    assert len(work) == 4
    assert threads_of(parse_kernel(CHAIN).body)[0] == ()


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_layer_is_emitted_with_fused_multiply_adds(processor):
    text = assembly(layer(), processor)
    assert re.search(MULTIPLY_ADDS[processor][0], text)
    assert "layer" in text


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("name", GRAPHS)
def test_other_ops_are_emitted(name, processor):
    graph = parse_graph(f"graph @f(%x: f32[6,10]) -> ({GRAPHS[name].split(': ')[-1]}) {{\n"
                        f"  %0 = {GRAPHS[name]}\n  return %0\n}}")  # fmt: skip
    for step in lower(decompose(graph)).steps:
        if step.kernel is not None:
            assert step.kernel.name in assembly(step.kernel, processor)


def test_memories_are_told_apart():
    nvidia, amd = (llvm_ir(layer(), processor) for processor in GPUS)
    assert "ptr addrspace(1)" in nvidia
    assert "addrspace(5)" not in nvidia
    assert "alloca [1 x float], align 64, addrspace(5)" in amd
    assert re.search(r"ld\.global", assembly(layer(), "nvptx"))
    assert "global_load" in assembly(layer(), "amdgpu")


def test_a_schedule_is_kept():
    """The tile of 3 vectors has 3 vectors, whatever the scheduler would choose."""
    text = llvm_ir(tile(2, 3), "x86-64")
    assert text.count("fmul contract <8 x float>") == 6


PREFETCHED = """
kernel @rows(x: f32[9,64], w: f32[4,64,32], out: f32[4,9,32]) prefetch(w, o, i) {
  for o in 0..4 { for r in 0..9 {
    local acc: f32[32]
    vector l in 0..32 { acc[l] = 0.0 }
    for i in 0..64 { vector l_2 in 0..32 { acc[l_2] += x[r, i] * w[o, i, l_2] } }
    vector l_3 in 0..32 { out[o, r, l_3] = acc[l_3] }
  } }
}"""


@pytest.mark.parametrize(
    ("processor", "instruction"),
    [("x86-64", "prefetcht0"), ("aarch64", "prfm"), ("riscv64", None), ("nvptx", None)],
)
def test_what_is_prefetched_is_asked_for_in_each_step(processor, instruction):
    """Where the processor has an instruction for it, and no other threads to run meanwhile."""
    found = re.findall(
        r"^\s+(prefetch\w*|prfm)\b", assembly(parse_kernel(PREFETCHED), processor), re.M
    )
    plain = assembly(parse_kernel(PREFETCHED.replace("prefetch(w, o, i)", "")), processor)
    assert set(found) == ({instruction} if instruction else set())
    assert not re.search(r"prefetch|prfm", plain)


def test_what_cannot_be_emitted_is_refused():
    with pytest.raises(ValueError, match="x86-64, aarch64, riscv64, nvptx, amdgpu, got 'tpu'"):
        assembly(layer(), "tpu")
    gather = "kernel @g(x: f32[8], i: i64[4], out: f32[4]) {\n  for k in 0..4 {\n" \
             "    out[k] = x[i[k]]\n  }\n}"  # fmt: skip
    with pytest.raises(ValueError, match="comes from memory"):
        assembly(parse_kernel(gather), "nvptx")
    assert "gather" in assembly(parse_kernel(gather.replace("@g", "@gather")), "aarch64")


def test_the_command_prints_assembly(capsys):
    assert main(["asm", "mlp", "--processor", "amdgpu"]) == 0
    assert "v_pk_fma_f32" in capsys.readouterr().out
    assert main(["asm", "mlp", "--processor", "vax"]) == 1
    assert "--processor is one of" in capsys.readouterr().err
    assert main(["asm", "mlp", "--kernel", "none"]) == 1
    assert "there is no kernel 'none'" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("llc-22") is None, reason="llc-22 is not installed")
@pytest.mark.parametrize("processor", PROCESSORS)
def test_llvms_own_tool_reads_what_we_emit(processor):
    to = PROCESSORS[processor]
    module = optimize(llvm_ir(layer(), processor), target_machine(processor))
    command = ["llc-22", "-O3", f"-mtriple={to.triple}", f"-mcpu={to.cpu}", "-o", "-"]
    command += [f"-mattr={to.features}"] if to.features else []
    made = subprocess.run(command, input=str(module), capture_output=True, text=True, check=True)
    assert re.search(MULTIPLY_ADDS[processor][0], made.stdout)


@pytest.mark.parametrize("fn", ["pow", "log", "sin", "cos", "tan", "asin", "sinh"])
def test_a_function_without_instructions_on_a_gpu_is_refused_before_llvm_ends_the_process(fn):
    operands = "%x, %x" if fn == "pow" else "%x"
    text = (
        f"graph @g(%x: f32[64]) -> (f32[64]) {{\n %0 = {fn}({operands}) : f32[64]\n return %0\n}}"
    )
    (step,) = lower(parse_graph(text)).steps
    assert step.kernel is not None
    with pytest.raises(ValueError, match=f"no instructions for {fn} on nvptx"):
        assembly(step.kernel, "nvptx")
    if fn in ("pow", "log", "sin", "cos"):
        assert "s_endpgm" in assembly(step.kernel, "amdgpu")
