"""One layer for two GPUs, as our compiler and LLVM 22.1 made it.

The listings are recorded, so that everybody answers about the same lines; makers.py makes them
again. Next room: `wild.py`.
"""

from __future__ import annotations

import re

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.backend import optimize
from course_lib.llvm.processors import PROCESSORS, assembly, llvm_ir, target_machine
from course_lib.recorded import recorded
from lessons.u06.kernels import tile

LAYER = """
kernel @layer(x: f32[64,128], w: f32[128,96], b: f32[96], out: f32[64,96]) {
  for m in 0..64 { for n in 0..96 {
    local acc: f32[]
    acc[] = 0.0
    for k in 0..128 { acc[] += x[m, k] * w[k, n] }
    out[m, n] = relu(acc[] + b[n])
  } }
}"""

BY_LLVM = recorded(__file__, "gpus.txt")
NVIDIA, AMD = BY_LLVM["nvptx"], BY_LLVM["amdgpu"]


def layer() -> Kernel:
    """A linear layer with a bias and ReLU: 64 rows, 128 features in, 96 out."""
    return parse_kernel(LAYER)


def numbered(title: str, text: str) -> str:
    """A listing with line numbers, whole: a frame would have to be scrolled."""
    lines = text.strip("\n").splitlines()
    return "\n".join([title, *(f"{n:>3}  {line}" for n, line in enumerate(lines, 1))])


def nvidia() -> str:
    return numbered("The layer for an NVIDIA A100 (sm_80), without the declarations:", NVIDIA)


def amd() -> str:
    return numbered("The layer for an AMD MI200 (gfx90a), without the declarations:", AMD)


# The multiply-add of each target, as a regular expression, and how many float32 it works on.
MULTIPLY_ADDS = {
    "x86-64": (r"vfmadd\w+ps", 8),
    "aarch64": (r"fmla\s+v\d+\.4s", 4),
    "riscv64": (r"vfmacc\.vf", 8),  # in two registers of 4
    "nvptx": (r"fma\.rn\.f32", 1),
    "amdgpu": (r"v_pk_fma_f32", 2),
}


def targets_table() -> Picture:
    """The layer for five targets: how long the text is, and what its multiply-add is called."""
    rows = []
    for target, (pattern, numbers) in MULTIPLY_ADDS.items():
        text = assembly(layer(), target)
        multiply_adds = re.findall(pattern, text)
        rows.append([target, PROCESSORS[target].cpu, len(text.splitlines()),
                     multiply_adds[0].split()[0], numbers, len(multiply_adds)])  # fmt: skip
    header = ["target", "processor", "lines of assembly", "its multiply-add",
              "float32 at once, per thread", "how often it appears"]  # fmt: skip
    return table(rows, header)


def lanes_table() -> Picture:
    """Four products of `<8 x float>`, the tile of 1 × 1, in what LLVM makes of them for five
    targets: its first multiply-add, how many that takes, and on how many numbers each works."""
    rows = []
    for target, (_, numbers) in MULTIPLY_ADDS.items():
        fmas = re.findall(r"vfmadd\w+ps|fmla|vfmacc\.vf|vfmadd\.v\w|fma\.rn\.f32|v_pk_fma_f32",
                          assembly(tile(1, 1), target))  # fmt: skip
        rows.append([target, PROCESSORS[target].cpu, fmas[0], len(fmas), numbers,
                     len(fmas) * numbers])  # fmt: skip
    return table(rows, ["target", "processor", "its first multiply-add", "multiply-adds",
                        "float32 in each", "multiplications in all"])  # fmt: skip


# Memories of a GPU: the number of its address space in LLVM IR, and who sees it.
SPACES = {
    "global": (1, "all threads"),
    "shared": (3, "the threads of one block"),
    "a thread's own": (5, "one thread"),
    "generic": (0, "depends on the address"),
}
LOADS = {"nvptx": r"ld\.(?!param)[\w.]+", "amdgpu": r"\b\w+_(?:load_dword|read_b32)\b"}


def loads_from(number: int) -> list[str]:
    """What a load of the layer becomes on both GPUs if its pointers are of that address space. With
    generic ones it is a function, because LLVM takes a kernel's arguments to be global."""
    texts = []
    for target, pattern in LOADS.items():
        machine = target_machine(target)
        text = llvm_ir(layer(), target).replace("addrspace(1)", f"addrspace({number})")
        if not number:
            text = re.sub(r"define \w+_kernel ", "define ", text)
        load = re.search(pattern, machine.emit_assembly(optimize(text, machine)))
        assert load is not None
        texts.append(load[0])
    return texts


def spaces_table() -> Picture:
    """A GPU's memories, and the instructions that load from them."""
    rows = [[name, f"{number}", who, *loads_from(number)]
            for name, (number, who) in SPACES.items()]  # fmt: skip
    return table(rows, ["memory", "address space", "who sees it", "a load for NVIDIA",
                        "a load for AMD"])  # fmt: skip
