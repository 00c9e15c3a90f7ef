"""What makes the recordings of unit 16 again: the block in XLA, IREE and TVM, and a search.

    iree()      {"programs": ..., "launches": ..., "phases": ..., "targets": ...}

Each needs its package. TVM's has a rewrite that is an answer, and IREE is asked about programs of a
hidden check, so what makes these recordings stands with the answers. Next room: `live.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.maker import maker
from course_lib.peers.model import model_of
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.write import write
from course_lib.scratch import Folder
from lessons.u16.dispatches import RECORDED, Case, Program, in_order, written
from lessons.u16.live import PHASES, SMALL, compiled, phase

TRIALS, BATCH = 64, 16  # of the search
FLAGS = {"default": [], "O3": ["--iree-opt-level=O3"], "data tiling": ["--iree-opt-data-tiling"]}
TARGETS = {"llvm-cpu": "--iree-llvmcpu-target-cpu=generic", "vmvx": "", "vulkan-spirv": "",
           "metal-spirv": "", "cuda": "--iree-cuda-target=sm_80",
           "rocm": "--iree-rocm-target=gfx942"}  # fmt: skip


# ── XLA ──


@maker("jax", "jax", compared="names of texts", seconds=10)
def xla() -> dict[str, str]:
    """StableHLO of the block, what XLA launches, and the computations that attention is in. How
    much of it is the same depends on the processor."""
    from course_lib.peers import jax  # jax need not be installed

    ready = jax.prepare(model_of("block"), 1)
    stablehlo: Any = ready.lowered.compiler_ir("stablehlo")
    hlo = str(ready.compiled.as_text())
    return {
        "stablehlo": stablehlo.operation.get_asm(large_elements_limit=16),
        "launches": "".join(f"{line}\n" for line in ready.kernels()),
        "attention": _attention(hlo),
    }


def _attention(hlo: str) -> str:
    """The launches from the product of query and key to that with value, and what is in them."""
    entry = hlo[hlo.index("\nENTRY ") :].splitlines()
    names = {
        m[1]: m[2] for line in entry if (m := re.match(r".*?%(\S+) = .*calls=%([\w.]+)", line))
    }
    about = [name for name in names if re.search(rf"%{re.escape(name)} = .*attention/(dot|red|div)",
                                                 "\n".join(entry))]  # fmt: skip
    parts = []
    for name in about:
        body = hlo[hlo.index(f"%{names[name]} (") :].partition("\n}")[0].splitlines()[1:]
        lines = [
            re.sub(r"metadata=.*|, (lhs|to)_.*|\{[\d,]*\}(?= )", "", line).rstrip(" ,")
            for line in body
        ]
        kept = [line for line in lines if not re.search(r" (parameter|bitcast|constant)\(", line)]
        parts.append("\n".join([name, *kept]))
    return "\n".join(parts) + "\n"


# ── IREE ──


@maker("iree-base-compiler", "iree", "onnx", seconds=15)
def iree() -> dict[str, str]:
    """What IREE makes of the programs of `dispatches.py`, what it launches for the block, one small
    program on its way, and its targets."""
    return {
        "programs": asked(RECORDED),
        "launches": json.dumps({name: launched(flags) for name, flags in FLAGS.items()}) + "\n",
        "phases": "".join(f"{name}\n{phase(SMALL, name)}" for name in PHASES),
        "targets": json.dumps({name: _packed(name) for name in TARGETS}) + "\n",
    }


def launched(flags: list[str]) -> list[str]:
    """The dispatches of the block in short: "reduction_128x256"."""
    from course_lib.peers.iree import imported  # iree need not be installed

    stream = compiled(imported(model_of("block").onnx)[1], "onnx", "llvm-cpu", [
        "--compile-to=stream", "--iree-llvmcpu-target-cpu=generic", *flags]).decode()  # fmt: skip
    functions_ = re.split(r"^  (?=\S)", stream, flags=re.M)
    public = "".join(text for text in functions_ if text.startswith("util.func public"))
    names = re.findall(r"stream\.cmd\.dispatch @[^\s{]+::@([^\s{(\[]+)", public)
    return [re.sub(r"^.*?dispatch_\d+_|^_encoding_\d+_|_f32.*$|xf32.*$", "", n) for n in names]


def grouped(program: Program) -> list[list[str]]:
    """The dispatches of a program of `dispatches.py`: the names of the values in each. Locations,
    which are these names, say where an operation comes from, whatever it has been fused to."""
    flags = ["--compile-to=dispatch-creation", "--mlir-print-debuginfo"]
    made = compiled(written(program), "stablehlo", "llvm-cpu", flags).decode()
    groups = []
    for text in made.split("flow.dispatch.workgroups(")[1:]:
        lines = [line for line in text.partition("} count(")[0].splitlines()
                 if re.search(r"= (arith\.(?!constant)|math\.|linalg\.\w*mat)", line)]  # fmt: skip
        names = {name for line in lines for name in re.findall(r'loc\(callsite\("(\w+)"', line)}
        groups.append(names & set(program))
    return in_order(groups, program)


def asked(cases: Sequence[Case]) -> str:
    """The same programs with what IREE makes of them now: a program in a line, as JSON."""
    lines = []
    for program, _ in cases:
        rows = [[name, row["op"], row["operands"]] for name, row in program.items()]
        lines.append(json.dumps([rows, grouped(program)], separators=(",", ":")))
    return "\n".join(lines) + "\n"


def _packed(target: str) -> list[Any]:
    """The format of the kernel for a target, and the bytes of the whole file."""
    flags = [TARGETS[target]] if TARGETS[target] else []
    whole = compiled(SMALL, "stablehlo", target, flags)
    hal = compiled(SMALL, "stablehlo", target, ["--compile-to=hal", *flags]).decode()
    return [re.findall(r'format = "([\w.-]+)"', hal)[0], len(whole)]


# ── TVM ──


def tvm() -> dict[str, str]:
    """The block in Relax, what a rewrite changes, and a product in LLVM IR and CUDA."""
    return {"relax": block_script(), **products()}


def block_script() -> str:
    """The block in Relax."""
    return write(model_of("block").graph).script() + "\n"


def products() -> dict[str, str]:
    """A scheduled product of TVM: its loops, its vector loop in LLVM IR, its kernel in CUDA C."""
    tvm_ = package()
    cpu = _scheduled(tvm_, gpu=False)
    target = tvm_.target.Target({"kind": "llvm", "mcpu": "skylake-avx512"})
    llvm = tvm_.compile(cpu.mod, target=target).mod.inspect_source("ll")
    found = re.search(r"^(for_body_k\d*:.*?)^\S*(?:for_end|for_body_j)", llvm, re.M | re.S)
    gpu = tvm_.compile(_scheduled(tvm_, gpu=True).mod,
                       target=tvm_.target.Target({"kind": "cuda", "arch": "sm_80"}))  # fmt: skip
    cuda = gpu.mod.imports[0].inspect_source()
    kernel = cuda[cuda.rindex('extern "C" __global__') :]
    return {
        "loops": "\n".join(x for x in cpu.mod.script().splitlines() if " for " in x) + "\n",
        "llvm": _vectors(found[1] if found else ""),
        "cuda": kernel.rstrip() + "\n",
    }


def _vectors(loop: str) -> str:
    """The lines of a loop of LLVM IR that hold whole vectors or a branch."""
    wanted = r"= (phi <|load <|tail call <)|^  br |^\w+:"
    lines = [re.sub(r", !\w+ !\d+|, !llvm.*| *; preds.*", "", x) for x in loop.splitlines()]
    return "".join(f"{line}\n" for line in lines if re.search(wanted, line))


def unscheduled(tvm_: Any) -> Any:
    """The product [128, 256] x [256, 256] as TVM writes it: three plain loops."""
    te = tvm_.te
    a, b = te.placeholder((128, 256), name="A"), te.placeholder((256, 256), name="B")
    k = te.reduce_axis((0, 256), name="k")
    c = te.compute((128, 256), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return tvm_.IRModule({"main": te.create_prim_func([a, b, c])})


def _scheduled(tvm_: Any, gpu: bool) -> Any:
    """This product with loops for a processor, or for a GPU's threads."""
    made = tvm_.s_tir.Schedule(unscheduled(tvm_))
    block = made.get_sblock("C")
    i, j, k = made.get_loops(block)
    (i0, i1), (j0, j1) = (made.split(x, [None, f]) for x, f in
                          ((i, 8 if gpu else 4), (j, 32 if gpu else 16)))  # fmt: skip
    if gpu:
        made.reorder(i0, j0, i1, j1, k)
        for loop, thread in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i1, "threadIdx.y"),
                             (j1, "threadIdx.x")):  # fmt: skip
            made.bind(loop, thread)
    else:
        made.reorder(i0, j0, k, i1, j1)
        made.vectorize(j1)
        made.unroll(i1)
        made.parallel(i0)
        made.decompose_reduction(block, k)
    return made


@maker("apache-tvm", "tvm", compared="names of texts", seconds=60)
def searched() -> dict[str, str]:
    """Microseconds of the product as it is written, and of each trial, in order."""
    from tvm.s_tir import meta_schedule as search  # TVM need not be installed
    from tvm.s_tir.meta_schedule.database import MemoryDatabase

    from course_lib.peers.tvm import here  # it imports TVM
    from course_lib.peers.tvm_search import Builder, Runner  # so does it

    tvm, found, folder = package(), MemoryDatabase(), Folder("course-u16-search-")
    module = unscheduled(tvm)
    try:
        search.tir_integration.tune_tir(
            module, here(), folder.path, TRIALS, num_trials_per_iter=BATCH, seed=16,
            builder=Builder(), runner=Runner(), cost_model="random", strategy="replay-trace",
            database=found, measure_callbacks=[search.measure_callback.AddToDatabase()],
        )  # fmt: skip
    finally:
        folder.close()
    seconds = [_plain(tvm, module, here())]
    seconds += [float(one.run_secs[0]) for one in found.get_all_tuning_records()]
    return {"microseconds": json.dumps([round(1e6 * x) for x in seconds]) + "\n"}


def _plain(tvm: Any, module: Any, target: Any) -> float:
    """Seconds of the product as it is written, on random numbers."""
    draw = np.random.default_rng(0).standard_normal
    arrays = [tvm.runtime.tensor(draw(shape, np.float32))
              for shape in ((128, 256), (256, 256), (128, 256))]  # fmt: skip
    function = tvm.compile(module, target=target).mod
    clock = function.time_evaluator("main", tvm.cpu(), number=1, repeat=9)
    return min(clock(*arrays).results[1:])
