"""The block in XLA, IREE and TVM, made here: what the recordings of this unit hold.

    iree()      {"programs": ..., "launches": ..., "phases": ..., "targets": ...}

Each needs its package. `python -m course_lib record u16` makes the recordings again, and a test
compares; TVM's has a rewrite that is an answer, so what makes it stands with the answers. Next
room: `wild.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from course_lib.maker import maker
from course_lib.peers.model import model_of
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.write import write
from lessons.u16 import relax as texts
from lessons.u16.dispatches import RECORDED, Case, written
from lessons.u16.texts import call, functions

SMALL = """\
func.func public @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] \
: (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = stablehlo.tanh %p : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""
FLAGS = {"default": [], "O3": ["--iree-opt-level=O3"], "data tiling": ["--iree-opt-data-tiling"]}
TARGETS = {"llvm-cpu": "--iree-llvmcpu-target-cpu=generic", "vmvx": "", "vulkan-spirv": "",
           "metal-spirv": "", "cuda": "--iree-cuda-target=sm_80",
           "rocm": "--iree-rocm-target=gfx942"}  # fmt: skip
PHASES = {  # and what is shown of each
    "flow": r"= (linalg\.(fill|matmul|generic)|math\.|flow\.dispatch)",
    "stream": r"= stream\.(resource|cmd|timepoint)|^ *(stream\.cmd\.dispatch|[rw][ow] %)",
    "hal": r"^ *(%cmd = )?hal\.(command_buffer|executable\.binary)",
}


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

    stream = _compiled(imported(model_of("block").onnx)[1], "onnx", "llvm-cpu", [
        "--compile-to=stream", "--iree-llvmcpu-target-cpu=generic", *flags]).decode()  # fmt: skip
    functions_ = re.split(r"^  (?=\S)", stream, flags=re.M)
    public = "".join(text for text in functions_ if text.startswith("util.func public"))
    names = re.findall(r"stream\.cmd\.dispatch @[^\s{]+::@([^\s{(\[]+)", public)
    return [re.sub(r"^.*?dispatch_\d+_|^_encoding_\d+_|_f32.*$|xf32.*$", "", n) for n in names]


def asked(cases: Sequence[Case]) -> str:
    """The same programs with what IREE makes of them now: a program in a line, as JSON."""
    lines = []
    for program, _ in cases:
        names = dispatched(written(program))
        kinds = ["product" if "mat" in n else "sum" if "reduction" in n else "each" for n in names]
        rows = [[name, row["op"], row["operands"]] for name, row in program.items()]
        lines.append(json.dumps([rows, sorted(kinds)], separators=(",", ":")))
    return "\n".join(lines) + "\n"


def dispatched(text: str) -> list[str]:
    """The names of the dispatches of a StableHLO program."""
    flow = _compiled(text, "stablehlo", "llvm-cpu", ["--compile-to=flow"]).decode()
    return re.findall(r"flow\.dispatch @\S+?::@\S*?dispatch_\d+_(\S+?)[(\[ ]", flow)


def phase(text: str, name: str) -> str:
    """The lines that say most of what a program has become after a phase of IREE."""
    made = _compiled(text, "stablehlo", "llvm-cpu",
                     [f"--compile-to={name}", "--iree-llvmcpu-target-cpu=generic",
                      "--mlir-elide-elementsattrs-if-larger=8"]).decode()  # fmt: skip
    lines = [re.sub(r" loc\(.*$", "", line) for line in made.splitlines()]
    kept = [line.strip() for line in lines if re.search(PHASES[name], line)]
    return "".join(f"    {line[:104]}{' ...' if len(line) > 104 else ''}\n" for line in kept)


def _packed(target: str) -> list[Any]:
    """The format of the kernel for a target, and the bytes of the whole file."""
    flags = [TARGETS[target]] if TARGETS[target] else []
    whole = _compiled(SMALL, "stablehlo", target, flags)
    hal = _compiled(SMALL, "stablehlo", target, ["--compile-to=hal", *flags]).decode()
    return [re.findall(r'format = "([\w.-]+)"', hal)[0], len(whole)]


def _compiled(text: Any, kind: str, target: str, flags: list[str]) -> bytes:
    from iree.compiler import tools  # iree need not be installed

    return tools.compile_str(text, input_type=kind, target_backends=[target], extra_args=flags)


# ── TVM ──


def tvm() -> dict[str, str]:
    """The block in Relax, what a rewrite changes, and a product in LLVM IR and CUDA."""
    return {"relax": block_script(), **products()}


def block_script() -> str:
    """The block in Relax."""
    return write(model_of("block").graph).script() + "\n"


def rewritten(text: str) -> dict[str, Any]:
    """What TVM launches for the block before and after a rewrite, and the loop nests of the new
    function `attention`."""
    module = write(model_of("block").graph)
    tvm_, dpl = package(), package().relax.dpl
    inputs = [dpl.wildcard() for _ in functions(text)["before"].args.args]
    pattern = call(text, "before", inputs, {"R": _Patterns(dpl)})

    def replaced(found: Any, binding: Any) -> Any:
        operands = [binding[one] for one in inputs]
        return call(text, "after", operands, {"R": _Calls(tvm_.relax.op)})

    function = dpl.rewrite_call(pattern, replaced, module["main"])
    after = tvm_.IRModule({"main": function})
    (before_names, _), (after_names, lowered) = _lowered(module), _lowered(after)
    new = str(lowered["attention"].script()) if "attention" in after_names else ""
    return {"before": before_names, "after": after_names,
            "nests": len(re.findall(r"^    for ", new, re.M)),
            "buffers": new.count("T.sblock_alloc_buffer")}  # fmt: skip


def _lowered(module: Any) -> tuple[list[str], Any]:
    """The launches after TVM's fusion, and the module."""
    passes = package().relax.transform
    for step in (passes.FoldConstant, passes.LegalizeOps, passes.AnnotateTIROpPattern,
                 passes.FoldConstant, passes.FuseOps, passes.FuseTIR):  # fmt: skip
        module = step()(module)
    return re.findall(r"R\.call_tir\(cls\.(\w+)", module.script()), module


class _Patterns:
    """The room `R` whose operations are patterns of TVM. A constant has to be equal, and the
    language of patterns cannot say so: `texts.matches` did."""

    def __init__(self, dpl: Any) -> None:
        self._dpl = dpl

    def any(self, name: str) -> Callable[..., Any]:
        def operation(*given: Any, **named: Any) -> Any:
            if name == "const":
                return self._dpl.is_const()
            names = texts.PARAMETERS.get(name, ())
            operands = given[:1] if names else given
            attributes = {**dict(zip(names[1:], given[1:], strict=False)), **named}
            made = self._dpl.is_op(f"relax.{name.replace('nn_', 'nn.')}")(*operands)
            kept = {k: list(v) if isinstance(v, tuple) else v for k, v in attributes.items()
                    if k not in texts.IGNORED}  # fmt: skip
            return made.has_attr(kept) if kept else made

        return operation


class _Calls:
    """The room `R` of TVM itself."""

    def __init__(self, ops: Any) -> None:
        self._ops = ops

    def nn_attention(self, *given: Any, **named: Any) -> Any:
        return self._ops.nn.attention(*given, **named)


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


def _scheduled(tvm_: Any, gpu: bool) -> Any:
    """The product [128, 256] x [256, 256] with loops for a processor, or for a GPU's threads."""
    te = tvm_.te
    a, b = te.placeholder((128, 256), name="A"), te.placeholder((256, 256), name="B")
    k = te.reduce_axis((0, 256), name="k")
    c = te.compute((128, 256), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    made = tvm_.s_tir.Schedule(tvm_.IRModule({"main": te.create_prim_func([a, b, c])}))
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
