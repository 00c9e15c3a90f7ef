"""Unit 2: what onnxruntime, LLVM and Inductor make of small programs and of ResNet-18.

    counted(optimized(exported("resnet18"), "once.onnx"))     # onnxruntime's kernels
    opinions()                       # eleven lines of arithmetic, three compilers

LLVM and onnxruntime run here. Inductor needs a C++ compiler and some seconds for each program, so
what it did is kept (`INDUCTOR`), and tests/units/test_u02.py compiles it again where it can.
Next room: bench.py.
"""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import onnx
import onnxruntime as ort
import torch

from course_lib.compiler import compile
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.build import sqrt, trace
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const
from course_lib.models.exported import onnx_model
from course_lib.peers.onnxruntime import session
from course_lib.scratch import Folder

FOLDER = Folder("course-u02-")  # 0.6 GB after the whole notebook, gone with this process
FILES = Path(FOLDER.path)
atexit.register(FOLDER.close)
LEVELS = ort.GraphOptimizationLevel


# ── onnxruntime ──


def exported(name: str, clean: bool = False) -> Path:
    """The model as an ONNX file: as PyTorch traced it, or after the exporter's own clean-up."""
    path = FILES / f"{name}{'_clean' if clean else ''}.onnx"
    onnx.save(onnx_model(name, clean=clean), path)
    return path


def counted(path: Path) -> Counter[str]:
    """How many nodes of each kind an ONNX file has."""
    return Counter(node.op_type for node in onnx.load(path).graph.node)


def optimized(path: Path, saved: str, level: Any = LEVELS.ORT_ENABLE_ALL) -> Path:
    """Let onnxruntime optimize a file, and save the graph that it would run: one node a kernel."""
    session(path, graph_optimization_level=level, optimized_model_filepath=str(FILES / saved))
    return FILES / saved


def side_by_side(files: Mapping[str, Path]) -> Picture:
    """A column for each file: how many nodes of each kind it has, and how many in all."""
    columns = [counted(path) for path in files.values()]
    kinds = dict.fromkeys(kind for column in columns for kind in column)
    rows = [[kind, *(column[kind] or None for column in columns)] for kind in kinds]
    return table([*rows, ["all", *(column.total() for column in columns)]], ["op", *files])


def kernels(files: Mapping[str, Path]) -> Picture:
    """A row for each file that onnxruntime saved: its kernels, and three kinds of them."""
    rows = [
        [name, (c := counted(path)).total(), c["Cast"], c["Expand"], c["BatchNormalization"]]
        for name, path in files.items()
    ]
    return table(rows, ["onnxruntime", "kernels", "casts", "expands", "batch norms"])


def kernels_after_one_run(files: Mapping[str, Path]) -> Picture:
    """The same of files that onnxruntime has not optimized yet."""
    return kernels({n: optimized(path, f"{path.stem}_once.onnx") for n, path in files.items()})


def with_cast() -> Path:
    """ResNet-18 as traced, with each CastLike replaced by the Cast that it means."""
    model = onnx_model("resnet18")
    for node in _cast_likes(model):
        node.op_type = "Cast"
        del node.input[1:]
        node.attribute.append(onnx.helper.make_attribute("to", onnx.TensorProto.FLOAT))
    return _kept(model, "cast.onnx")


def with_constant_operand() -> Path:
    """ResNet-18 as traced, with each CastLike reading a weight of its own in place of an input."""
    model = onnx_model("resnet18")
    weights = iter(node.input[1] for node in model.graph.node if node.op_type == "Conv")
    for node in _cast_likes(model):
        node.input[1] = next(weights)
    return _kept(model, "constant.onnx")


def with_unused_function() -> Path:
    """ResNet-18 as traced, and in the same file a function that no node calls."""
    model, make = onnx_model("resnet18"), onnx.helper
    twice = make.make_node("Add", ["a", "a"], ["b"])
    opset = [make.make_opsetid("", 20)]
    model.functions.append(make.make_function("unused", "Twice", ["a"], ["b"], [twice], opset))
    model.opset_import.append(make.make_opsetid("unused", 1))
    return _kept(model, "function.onnx")


def _cast_likes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for node in model.graph.node if node.op_type == "CastLike"]


def _kept(model: onnx.ModelProto, name: str) -> Path:
    onnx.save(model, FILES / name)
    return FILES / name


def one_over(level: Any) -> float:
    """1 / (-x + 0.0) for x = 0.0, by onnxruntime at this level."""
    make = onnx.helper.make_node
    nodes = [make("Neg", ["x"], ["a"]), make("Add", ["a", "zero"], ["b"]),
             make("Reciprocal", ["b"], ["y"])]  # fmt: skip
    path = _saved(nodes, 0.0)
    runs = session(path, graph_optimization_level=level)
    return float(np.asarray(runs.run(None, {"x": np.zeros(1, np.float32)})[0])[0])


def _saved(nodes: list[onnx.NodeProto], number: float) -> Path:
    """A file with these nodes from x to y; `zero` is the number."""
    info = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy"]
    zero = onnx.numpy_helper.from_array(np.array(number, np.float32), "zero")
    graph = onnx.helper.make_graph(nodes, "g", info[:1], info[1:], [zero])
    opset = [onnx.helper.make_opsetid("", 20)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), FILES / "one.onnx")
    return FILES / "one.onnx"


def _by_onnxruntime(op: str, number: float) -> str:
    """What is left of one operation between two others: onnxruntime spares inputs and outputs."""
    make = onnx.helper.make_node
    operands = ["a", "a"] if np.isnan(number) else ["a", "zero"]
    nodes = [make("Neg", ["x"], ["a"]), make(op, operands, ["b"]), make("Neg", ["b"], ["y"])]
    left = counted(optimized(_saved(nodes, number), "left.onnx"))
    return op if left[op] else "x"


# ── LLVM ──


def instcombine(body: str) -> list[str]:
    """What LLVM's InstCombine makes of `float f(float x)`, as names of instructions and calls."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    calls = "\n".join(f"declare float @{f}" for f in (
        "powf(float, float)", "llvm.pow.f32(float, float)", "llvm.fabs.f32(float)"))  # fmt: skip
    module = llvm.parse_assembly(f"{calls}\ndefine float @f(float %x) {{\n{body}\nret float %r }}")
    triple = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = triple.create_target_machine(cpu="haswell")
    manager = llvm.create_new_module_pass_manager()
    manager.add_instruction_combine_pass()
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    lines = str(next(f for f in module.functions if not f.is_declaration)).splitlines()
    instructions = [line.split("=", 1)[1].split("(")[0].split() for line in lines if "=" in line]
    return [w[-1].strip("@") if "call" in w else w[0] for w in instructions] or ["x"]


# ── three opinions ──

# What Inductor of torch 2.13.0 wrote for each line on x86-64: for a Python number as the operand,
# and, where that differs, for a tensor full of it.
INDUCTOR = {
    "x + 0.0": "add; a tensor of zeros: x",
    "x + -0.0": "add; a tensor of zeros: x",
    "x - 0.0": "sub; a tensor of zeros: x",
    "x * 1.0": "mul; a tensor of ones: x",
    "x - x": "sub",
    "x * 0.0": "mul",
    "x / 4.0": "div",
    "x / 7.0": "div",
    "x ** 2.0": "mul",
    "x ** 0.5": "sqrt",
    "abs(x) ** -0.5": "abs, pow",
}

_POW = "%r = call float @powf(float %x, float {})"
# (line, the line in LLVM IR, the ONNX op and its number; NaN: the operand a second time)
LINES: list[tuple[str, str, tuple[str, float]]] = [
    ("x + 0.0", "%r = fadd float %x, 0.0", ("Add", 0.0)),
    ("x + -0.0", "%r = fadd float %x, -0.0", ("Add", -0.0)),
    ("x - 0.0", "%r = fsub float %x, 0.0", ("Sub", 0.0)),
    ("x * 1.0", "%r = fmul float %x, 1.0", ("Mul", 1.0)),
    ("x - x", "%r = fsub float %x, %x", ("Sub", np.nan)),
    ("x * 0.0", "%r = fmul float %x, 0.0", ("Mul", 0.0)),
    ("x / 4.0", "%r = fdiv float %x, 4.0", ("Div", 4.0)),
    ("x / 7.0", "%r = fdiv float %x, 7.0", ("Div", 7.0)),
    ("x ** 2.0", _POW.format(2.0), ("Pow", 2.0)),
    ("x ** 0.5", _POW.format(0.5), ("Pow", 0.5)),
    ("abs(x) ** -0.5", "%a = call float @llvm.fabs.f32(float %x)\n"
     "%r = call float @powf(float %a, float -0.5)", ("Pow", -0.5)),
]  # fmt: skip


def opinions() -> list[list[str]]:
    """For each line: what LLVM, onnxruntime and Inductor leave of it."""
    return [
        [text, ", ".join(instcombine(body)), _by_onnxruntime(*node), INDUCTOR[text]]
        for text, body, node in LINES
    ]


# ── powers ──


def powers(count: int = 200_000) -> list[list[Any]]:
    """What a power and its cheap form have in common: (line, bits that differ in percent, and the
    largest error of either in units in the last place), for positive f32 numbers."""
    x = np.abs(np.random.default_rng(0).standard_normal(count)).astype(np.float32)
    cheap: list[tuple[str, Any, Any, float]] = [
        ("x ** 2.0 -> x * x", lambda x: x**2.0, lambda x: x * x, 2),
        ("x ** 0.5 -> sqrt(x)", lambda x: x**0.5, lambda x: sqrt(x), 0.5),
        ("x ** -1.0 -> reciprocal(x)", lambda x: x**-1.0, lambda x: apply("reciprocal", x), -1),
        ("x ** -0.5 -> rsqrt(x)", lambda x: x**-0.5, lambda x: apply("rsqrt", x), -0.5),
        ("x / 4.0 -> x * 0.25", lambda x: x / 4.0, lambda x: x * 0.25, 0),
    ]
    rows = []
    for line, before, after, power in cheap:
        exact = x.astype(np.float64) ** power if power else x.astype(np.float64) / 4
        results = [run(trace(f, f"f32[{count}]"), [x])[0] for f in (before, after)]
        errors = [_units_off(r, exact) for r in results]
        rows.append([line, 100 * float(np.mean(results[0] != results[1])), *errors])
    return rows


def _units_off(result: np.ndarray, exact: np.ndarray) -> float:
    return float((np.abs(result - exact) / np.spacing(exact.astype(np.float32))).max())


# ── a convolution's zeros ──


def underflow() -> list[list[str]]:
    """What a convolution gives whose products are all negative and too small for f32: by numpy, by
    our compiler, by PyTorch."""
    weights = np.full((1, 4, 3, 3), -1e-30, np.float32)
    image = np.full((1, 4, 8, 8), 1e-30, np.float32)
    graph = trace(lambda x: apply("conv", x, const(weights)), "f32[1,4,8,8]")
    by_torch = torch.nn.functional.conv2d(torch.from_numpy(image), torch.from_numpy(weights))
    results = {
        "our interpreter (numpy)": run(graph, [image])[0],
        "our compiler": np.asarray(compile(graph)(image)),
        "PyTorch": by_torch.numpy(),
    }
    return [[name, str(result.flat[0])] for name, result in results.items()]
