"""What makes the recordings of the lab beside unit 16: the notebook's programs in three compilers.

A program is a function of a room `r` and an array x [8, 16]. The room has each operation once for
JAX, whose StableHLO goes to XLA and to IREE, and once for TVM's Relax. Next room: dumps.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from course_lib.maker import maker
from course_lib.plugins.tvm.package import package
from lessons.u16_lab_stages.logs import packed

Program = Callable[[Any, Any], Any]
SHAPE = (8, 16)
SEARCHED = 24  # trials of each layer


def both(r: Any, x: Any) -> Any:
    """A softmax as a library has it, and one of its result, written out."""
    e = r.exp(r.tanh(r.softmax(x)))
    return r.divide(e, r.sum(e))


def neither(r: Any, x: Any) -> Any:
    """An exponential divided by the sum of another one, and by its own maximum."""
    e, other = r.exp(x), r.exp(r.multiply(x, x))
    return r.add(r.divide(e, r.sum(other)), r.divide(e, r.max(e)))


PROGRAMS: Mapping[str, Program] = {"both": both, "neither": neither}


@maker("jax", "jax", compared="names of texts", seconds=8)
def by_xla() -> dict[str, str]:
    """Each program as JAX writes it, and as XLA has it in the end, which depends on the machine."""
    return in_xla(PROGRAMS)


@maker("IREE", "iree", "jax", seconds=8)
def by_iree() -> dict[str, str]:
    """Each program when IREE has read it, and after its phase Flow."""
    return in_iree(PROGRAMS)


@maker("apache-tvm", "tvm", seconds=8)
def by_tvm() -> dict[str, str]:
    """Each program in Relax, and as kernels in loops."""
    return in_tvm(PROGRAMS)


@maker("apache-tvm", "tvm", compared="names of texts", seconds=200)
def layers() -> dict[str, str]:
    """A search for the schedule of each of three layers."""
    from course_lib.peers.tvm_layers import LAYERS  # it imports TVM

    return {name: searched(layer, SEARCHED) for name, layer in LAYERS.items()}


def searched(layer: Any, trials: int, seed: int = 1) -> str:
    """The log of a search, packed."""
    from course_lib.peers import tvm_layers  # it imports TVM

    found = {"sizes": layer.sizes, **tvm_layers.searched(layer, trials, seed)}
    return packed(found)


def in_xla(programs: Mapping[str, Program]) -> dict[str, str]:
    found = {}
    for name, program in programs.items():
        lowered = _lowered(program)
        compiled = lowered.compile().as_text()
        whole = str(compiled)[str(compiled).index("\n%") + 1 :]
        found[f"{name}: StableHLO"] = str(lowered.compiler_ir("stablehlo"))
        found[f"{name}: HLO, optimized"] = re.sub(
            r", (metadata|backend_config|frontend_attributes)=\{.*$", "", whole, flags=re.M
        )
    return {name: text.strip() + "\n" for name, text in found.items()}


def in_iree(programs: Mapping[str, Program]) -> dict[str, str]:
    from iree.compiler import tools  # IREE need not be installed

    found = {}
    flags = ["--iree-llvmcpu-target-cpu=generic", "--mlir-elide-elementsattrs-if-larger=8"]
    for name, program in programs.items():
        text = str(_lowered(program).compiler_ir("stablehlo"))
        for stage, phase in (("linalg", "input"), ("Flow", "flow")):
            made: Any = tools.compile_str(text, input_type="stablehlo",
                                          target_backends=["llvm-cpu"],
                                          extra_args=[f"--compile-to={phase}", *flags])  # fmt: skip
            found[f"{name}: {stage}"] = without_places(made.decode())
    return found


def in_tvm(programs: Mapping[str, Program]) -> dict[str, str]:
    found = {}
    for name, program in programs.items():
        for stage, module in zip(("Relax", "TIR"), _in_relax(program), strict=True):
            lines = module.script().splitlines()
            kept = [line for line in lines if not re.match(r"\s*#", line)]
            found[f"{name}: {stage}"] = "\n".join(kept).strip() + "\n"
    return found


def _lowered(program: Program) -> Any:
    from course_lib.peers.jax import jax  # it need not be installed

    jnp = jax.numpy
    room = SimpleNamespace(
        softmax=lambda x: jax.nn.softmax(x, axis=-1), exp=jnp.exp, tanh=jnp.tanh, add=jnp.add,
        multiply=jnp.multiply, subtract=jnp.subtract, divide=jnp.divide, negative=jnp.negative,
        const=jnp.float32, sum=lambda x: x.sum(-1, keepdims=True), log=jnp.log,
        max=lambda x: x.max(-1, keepdims=True),
    )  # fmt: skip
    return jax.jit(lambda x: program(room, x)).lower(jax.ShapeDtypeStruct(SHAPE, "float32"))


def _in_relax(program: Program) -> tuple[Any, Any]:
    """The program, and its kernels after TVM's fusion."""
    relax, op = package().relax, package().relax.op
    builder = relax.BlockBuilder()

    def emit(made: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: builder.emit(made(*given))

    room = SimpleNamespace(
        softmax=emit(op.nn.softmax), exp=emit(op.exp), tanh=emit(op.tanh), add=emit(op.add),
        multiply=emit(op.multiply), subtract=emit(op.subtract), divide=emit(op.divide),
        negative=emit(op.negative), const=lambda value: relax.const(value, "float32"),
        sum=emit(lambda x: op.sum(x, [-1], True)), max=emit(lambda x: op.max(x, [-1], True)),
        log=emit(op.log),
    )  # fmt: skip
    x = relax.Var("x", relax.TensorType(SHAPE, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(program(room, x))
        builder.emit_func_output(result)
    module, passes = builder.get(), relax.transform
    kernels = module
    for step in (passes.LegalizeOps, passes.AnnotateTIROpPattern, passes.FuseOps, passes.FuseTIR):
        kernels = step()(kernels)
    return module, kernels


def without_places(text: str) -> str:
    """MLIR without its locations."""
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    whole = "\n".join(lines)
    while re.search(INNER, whole):
        whole = re.sub(INNER, "", whole)
    return whole.strip() + "\n"


INNER = r"\s*\bloc\((?:[^()]|\([^()]*\))*\)"


# ── C ──

SEQUENCE = {
    "steps": [["dense_relu", ["x", "w0", "b0"], "a"], ["dense_relu", ["a", "w1", "b1"], "b"],
              ["add", ["a", "b"], "c"], ["dense", ["c", "w2", "b2"], "d"], ["softmax", ["d"], "y"]],
    "shapes": {"x": [16, 64], "w0": [64, 32], "b0": [32], "a": [16, 32], "w1": [32, 32],
               "b1": [32], "b": [16, 32], "c": [16, 32], "w2": [32, 16], "b2": [16], "d": [16, 16],
               "y": [16, 16]},
}  # fmt: skip


@maker("apache-tvm", "tvm", seconds=8)
def in_c() -> dict[str, str]:
    """A network of five kernels."""
    return c_of({"sequence": SEQUENCE})


def c_of(models: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Each network as JSON, and its kernels as TVM writes them in C."""
    found = {}
    for name, model in models.items():
        shapes = model["shapes"]
        steps, functions = [], {}
        for k, (kind, reads, writes) in enumerate(model["steps"]):
            steps.append({"kind": kind, "call": f"__tvm_ffi_{kind}_{k}", "reads": reads,
                          "writes": writes})  # fmt: skip
            function = _te(kind, [shapes[one] for one in reads])
            functions[f"{kind}_{k}"] = function.with_attr("global_symbol", f"{kind}_{k}")
        module = package().IRModule(functions)
        target = package().target.Target({"kind": "c"})
        text = package().compile(module, target=target).mod.inspect_source()
        found[f"{name}: model"] = json.dumps({"steps": steps, "shapes": shapes}) + "\n"
        found[f"{name}: C"] = text.rstrip() + "\n"
    return found


def _te(kind: str, shapes: list[list[int]]) -> Any:
    """A kernel of these operands, in loops as TVM's library writes them."""
    te, topi = package().te, import_module("tvm.topi")
    given = [te.placeholder(shape, name="xwb"[k]) for k, shape in enumerate(shapes)]
    if kind in ("add", "softmax"):
        made = topi.add(*given) if kind == "add" else topi.nn.softmax(*given)
    elif kind.startswith("dense"):
        made = topi.add(topi.matmul(*given[:2]), given[2])
    else:
        made = topi.add(topi.nn.conv2d(*given[:2], 1, shapes[1][-1] // 2, 1, "NCHW"), given[2])
    if kind.endswith("relu"):
        made = topi.nn.relu(made)
    return te.create_prim_func([*given, made])
