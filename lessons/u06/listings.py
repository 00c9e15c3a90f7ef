"""One layer for two GPUs, as our compiler and LLVM 22.1 made it.

The listings are recorded, so that everybody answers about the same lines; tests/units/test_u06.py
makes them again. Next room: `wild.py`.
"""

from __future__ import annotations

import re

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.backend import optimize
from course_lib.llvm.processors import PROCESSORS, assembly, llvm_ir, target_machine
from lessons.u06.kernels import tile

LAYER = """
kernel @layer(x: f32[64,128], w: f32[128,96], b: f32[96], out: f32[64,96]) {
  for m in 0..64 {
    for n in 0..96 {
      local acc: f32[]
      acc[] = 0.0
      for k in 0..128 {
        acc[] += x[m, k] * w[k, n]
      }
      out[m, n] = relu(acc[] + b[n])
    }
  }
}"""

NVIDIA = """
  mov.u32   %r1, %ctaid.x;
  mov.u32   %r2, %tid.x;
  mul.wide.u32   %rd8, %r1, 256;
  cvt.u64.u32   %rd9, %r2;
  add.s64   %rd1, %rd8, %rd9;
  setp.gt.u64   %p1, %rd1, 6143;
  @%p1 bra   $L__BB0_4;
  ld.param.b64   %rd7, [layer_param_3];
  ld.param.b64   %rd6, [layer_param_2];
  ld.param.b64   %rd5, [layer_param_1];
  ld.param.b64   %rd4, [layer_param_0];
  cvt.u16.u64   %rs1, %rd1;
  mul.hi.u16   %rs2, %rs1, -21845;
  shr.u16   %rs3, %rs2, 6;
  mul.lo.s16   %rs4, %rs3, 96;
  sub.s16   %rs5, %rs1, %rs4;
  cvt.u64.u16   %rd2, %rs5;
  cvt.u32.u16   %r3, %rs3;
  and.b32   %r4, %r3, 63;
  mul.wide.u32   %rd10, %r4, 512;
  add.s64   %rd11, %rd10, %rd4;
  add.s64   %rd3, %rd11, 8;
  cvt.u32.u16   %r5, %rs5;
  mul.wide.u32   %rd12, %r5, 4;
  add.s64   %rd13, %rd12, %rd5;
  add.s64   %rd19, %rd13, 768;
  mov.b32   %r20, 0f00000000;
  mov.b64   %rd20, 0;
$L__BB0_2:
  add.s64   %rd14, %rd3, %rd20;
  ld.global.nc.b32   %r6, [%rd14+-8];
  ld.global.nc.b32   %r7, [%rd19+-768];
  fma.rn.f32   %r8, %r6, %r7, %r20;
  ld.global.nc.b32   %r9, [%rd14+-4];
  ld.global.nc.b32   %r10, [%rd19+-384];
  fma.rn.f32   %r11, %r9, %r10, %r8;
  ld.global.nc.b32   %r12, [%rd14];
  ld.global.nc.b32   %r13, [%rd19];
  fma.rn.f32   %r14, %r12, %r13, %r11;
  ld.global.nc.b32   %r15, [%rd14+4];
  ld.global.nc.b32   %r16, [%rd19+384];
  fma.rn.f32   %r20, %r15, %r16, %r14;
  add.s64   %rd20, %rd20, 16;
  add.s64   %rd19, %rd19, 1536;
  setp.ne.b64   %p2, %rd20, 512;
  @%p2 bra   $L__BB0_2;
  shl.b64   %rd15, %rd2, 2;
  add.s64   %rd16, %rd6, %rd15;
  ld.global.nc.b32   %r17, [%rd16];
  add.f32   %r18, %r20, %r17;
  setp.le.f32   %p3, %r18, 0f00000000;
  selp.f32   %r19, 0f00000000, %r18, %p3;
  shl.b64   %rd17, %rd1, 2;
  add.s64   %rd18, %rd7, %rd17;
  st.global.b32   [%rd18], %r19;
$L__BB0_4:
  ret;
"""

AMD = """
layer:
  s_mov_b32 s7, 0
  s_lshl_b64 s[0:1], s[6:7], 8
  v_mov_b32_e32 v1, s1
  v_add_co_u32_e32 v0, vcc, s0, v0
  v_addc_co_u32_e32 v1, vcc, 0, v1, vcc
  s_mov_b64 s[0:1], 0x1800
  v_cmp_gt_u64_e32 vcc, s[0:1], v[0:1]
  s_and_saveexec_b64 s[0:1], vcc
  s_cbranch_execz .LBB0_4
  s_load_dwordx8 s[8:15], s[4:5], 0x0
  v_mul_u32_u24_e32 v2, 0xaaab, v0
  v_lshrrev_b32_e32 v3, 22, v2
  v_mul_lo_u16_e32 v2, 0x60, v3
  v_lshlrev_b16_e32 v3, 7, v3
  v_and_b32_e32 v3, 0x1f80, v3
  v_mov_b32_e32 v4, 2
  v_lshlrev_b32_sdwa v3, v4, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_0
  v_sub_u16_e32 v2, v0, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v5, s9
  v_add_co_u32_e32 v4, vcc, s8, v3
  v_addc_co_u32_e32 v3, vcc, 0, v5, vcc
  v_lshlrev_b32_e32 v5, 2, v2
  v_mov_b32_e32 v7, s11
  v_add_co_u32_e32 v6, vcc, s10, v5
  v_addc_co_u32_e32 v7, vcc, 0, v7, vcc
  s_mov_b64 s[0:1], 1
  s_mov_b64 s[2:3], 0
  v_mov_b32_e32 v8, 0
  v_mov_b32_e32 v9, 0
  v_mov_b32_e32 v5, 0x180
  s_mov_b64 s[4:5], 0
.LBB0_2:
  v_mov_b32_e32 v10, s3
  s_mul_i32 s8, s5, 0x180
  s_mul_hi_u32 s9, s4, 0x180
  v_mad_u64_u32 v[14:15], s[6:7], s4, v5, v[6:7]
  v_mad_u64_u32 v[16:17], s[6:7], s0, v5, v[6:7]
  v_add_co_u32_e32 v18, vcc, s2, v4
  s_mul_i32 s10, s4, 0x180
  s_mul_i32 s6, s1, 0x180
  v_addc_co_u32_e32 v19, vcc, v3, v10, vcc
  s_add_i32 s7, s9, s8
  v_add_u32_e32 v15, s8, v15
  v_add_u32_e32 v17, s6, v17
  global_load_dwordx4 v[10:13], v[18:19], off
  global_load_dword v20, v[14:15], off
  global_load_dword v21, v[16:17], off
  v_mov_b32_e32 v15, s7
  v_add_co_u32_e32 v14, vcc, s10, v6
  v_addc_co_u32_e32 v15, vcc, v7, v15, vcc
  global_load_dword v18, v[14:15], off offset:768
  global_load_dword v19, v[16:17], off offset:768
  s_add_u32 s4, s4, 4
  s_addc_u32 s5, s5, 0
  s_add_u32 s0, s0, 4
  s_addc_u32 s1, s1, 0
  s_add_u32 s2, s2, 16
  s_addc_u32 s3, s3, 0
  s_cmp_eq_u64 s[2:3], 0x200
  s_waitcnt vmcnt(2)
  v_pk_fma_f32 v[8:9], v[10:11], v[20:21], v[8:9]
  s_waitcnt vmcnt(0)
  v_pk_fma_f32 v[8:9], v[12:13], v[18:19], v[8:9]
  s_cbranch_scc0 .LBB0_2
  v_lshlrev_b32_e32 v2, 2, v2
  global_load_dword v2, v2, s[12:13]
  v_add_f32_e32 v3, v8, v9
  v_lshlrev_b64 v[0:1], 2, v[0:1]
  v_mov_b32_e32 v4, s15
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v2, v3, v2
  v_cmp_nge_f32_e32 vcc, 0, v2
  v_cndmask_b32_e32 v2, 0, v2, vcc
  v_add_co_u32_e32 v0, vcc, s14, v0
  v_addc_co_u32_e32 v1, vcc, v4, v1, vcc
  global_store_dword v[0:1], v2, off
.LBB0_4:
  s_endpgm
"""


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


def made_now(target: str) -> str:
    """The lines of a listing as they are made here, without directives."""
    first, last = {"nvptx": ("mov.u32", "ret;"), "amdgpu": ("layer:", "s_endpgm")}[target]
    lines = [line.replace("\t", "  ").rstrip() for line in assembly(layer(), target).splitlines()]
    start = next(k for k, line in enumerate(lines) if first in line)
    end = next(k for k, line in enumerate(lines) if last in line)
    return "\n" + "\n".join(line for line in lines[start : end + 1] if line) + "\n"


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
        found = re.findall(pattern, text)
        rows.append([target, PROCESSORS[target].cpu, len(text.splitlines()),
                     found[0].split()[0], numbers, len(found)])  # fmt: skip
    header = ["target", "processor", "lines of assembly", "its multiply-add",
              "float32 at once, per thread", "how often it appears"]  # fmt: skip
    return table(rows, header)


def lanes_table() -> Picture:
    """Four products of `<8 x float>`, the tile of 1 × 1, in what LLVM makes of them for five
    targets: its first multiply-add, how many that takes, and on how many numbers each works."""
    rows = []
    for target, (_, numbers) in MULTIPLY_ADDS.items():
        found = re.findall(r"vfmadd\w+ps|fmla|vfmacc\.vf|vfmadd\.v\w|fma\.rn\.f32|v_pk_fma_f32",
                           assembly(tile(1, 1), target))  # fmt: skip
        rows.append([target, PROCESSORS[target].cpu, found[0], len(found), numbers,
                     len(found) * numbers])  # fmt: skip
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
    found = []
    for target, pattern in LOADS.items():
        machine = target_machine(target)
        text = llvm_ir(layer(), target).replace("addrspace(1)", f"addrspace({number})")
        if not number:
            text = re.sub(r"define \w+_kernel ", "define ", text)
        load = re.search(pattern, machine.emit_assembly(optimize(text, machine)))
        assert load is not None
        found.append(load[0])
    return found


def spaces_table() -> Picture:
    """A GPU's memories, and the instructions that load from them."""
    rows = [[name, f"{number}", who, *loads_from(number)]
            for name, (number, who) in SPACES.items()]  # fmt: skip
    return table(rows, ["memory", "address space", "who sees it", "a load for NVIDIA",
                        "a load for AMD"])  # fmt: skip
