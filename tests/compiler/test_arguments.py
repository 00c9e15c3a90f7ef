"""Every public function says in words what is wrong with an argument, and does nothing odd.

    split(kernel, "n", 2.0)   ->   split: factor is a whole number, got 2.0 (a float)

Each function is called with right arguments, of which one after another is replaced by each value
of a small zoo. Then it works, or it raises ValueError or TypeError with a sentence; it ends soon.
"""

import inspect
import math
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, get_type_hints

import numpy as np
import pytest

import course_lib
from course_lib.accelerator.chip import Chip
from course_lib.accelerator.systolic import SystolicArray, cycles, wavefront
from course_lib.accelerator.workload import products, total_cycles, utilization
from course_lib.arguments import fits, hints, takes
from course_lib.cost.cache import SMALL, misses
from course_lib.cost.layout import cost as layout_cost
from course_lib.cost.machine import Machine
from course_lib.cost.nest import predict
from course_lib.draw.graphs.graph import before_after
from course_lib.draw.graphs.graph import graph as draw_graph
from course_lib.draw.plots.charts import histogram, lines, scatter
from course_lib.draw.plots.roofline import Dot, roofline
from course_lib.draw.plots.table import bars, table
from course_lib.draw.plots.tiles import tiles
from course_lib.draw.plots.timeline import Span, timeline
from course_lib.exercises import MODULES
from course_lib.frontend import load, signature
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.expr import Affine
from course_lib.ir.graph.build import conv, matmul, relu, softmax, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run as interpret
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel, Loop, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.types import parse_type
from course_lib.llvm.host import host_machine
from course_lib.llvm.processors import assembly
from course_lib.lower.lower import lower
from course_lib.memory.plan import plan
from course_lib.mlir.into.read import from_mlir
from course_lib.mlir.out.to_mlir import to_mlir
from course_lib.models import example_inputs
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import WINOGRAD
from course_lib.passes.prepare.specialize import specialize
from course_lib.passes.prepare.widen import widen
from course_lib.passes.quantize.to_int8 import to_int8, whole
from course_lib.runtime.executable import CompiledModel, Executable
from course_lib.schedule.schedule import schedule
from course_lib.schedule.script import Schedule, parse_schedule
from course_lib.schedule.steps import STEPS
from course_lib.tune.tune import tune


def always(value: Any) -> Callable[[], Any]:
    return lambda: value


ZOO: tuple[Callable[[], Any], ...] = (
    *map(always, (None, math.nan, math.inf, -1, 0, 2.0, "2", 10**18, True)), list, dict, object,
)  # fmt: skip
SECONDS = 20  # of processor time, after which a call does not end soon

X = np.linspace(-1, 1, 2 * 8 * 8, dtype=np.float32).reshape(1, 2, 8, 8)
GRAPH = trace(
    lambda x, w: relu(conv(x, w, pads=(1, 1, 1, 1))), "f32[1,2,8,8]", "f32[4,2,3,3]", name="small"
)
ARRAYS = [X, np.ones((4, 2, 3, 3), np.float32)]
ROW = trace(lambda x: softmax(x + 1.0), "f32[2,4]")
KERNEL = parse_kernel("""
kernel @mm(x0: f32[8,6], x1: f32[6,4], out: f32[8,4]) {
  for m in 0..8 {
    for n in 0..4 {
      local sum: f32[]
      sum[] = 0.0
      for k in 0..6 { sum[] += x0[m, k] * x1[k, n] }
      out[m, n] = sum[]
    }
  }
}""")
COPY = parse_kernel("kernel @k(x: f32[8], out: f32[8]) { for i in 0..8 { out[i] = x[i] } }")
SPLIT = parse_schedule("split(n, 2)").apply(KERNEL)
ARRAY = SystolicArray(4, 4)
POINTS = {"ours": [(1.0, 2.0), (3.0, 4.0)]}


def example(name: str) -> Kernel:
    """The first kernel in the docstring of a primitive's file."""
    text = inspect.getdoc(import_module(f"course_lib.schedule.primitives.{name}")) or ""
    found = re.search(r"parse_kernel\('''\n(.*?)'''\)", text, re.S)
    assert found
    return parse_kernel(found[1].replace("... ", ""))


# A kernel that each primitive changes, and with what; another one of a single loop gets n.
PRIMITIVES: dict[str, tuple[Any, ...]] = {
    "split": (KERNEL, "n", 2), "reorder": (SPLIT, ("no", "ni")), "interchange": (SPLIT, "no", "ni"),
    "skew": (SPLIT, "no", "ni", 1), "fuse": (SPLIT, "no", "ni", "n"), "vectorize": (SPLIT, "ni"),
    "unroll": (SPLIT, "ni"), "parallelize": (KERNEL, "m"), "serial": (KERNEL, "m"),
    "fission": (KERNEL, "n"), "stage": (example("stage"), "r", "acc"),
    "compute_at": (example("compute_at"), "twice", "j"),
    "cache": (example("cache"), "x", "no", 1, 4), "promote": (KERNEL, "sum", "k"),
    "demote": (KERNEL, "sum"), "pad": (example("pad"), "t", 0, 8), "pack": (SPLIT, "x1", 1, 2),
    "prefetch": (example("prefetch"), "w", "o", "i"),
}  # fmt: skip


COMPILE = (GRAPH, ARRAYS, "interpreter", None, None, None, "host", "npu", None)
RUN = course_lib.compile(*COMPILE)
ONE_THREAD = course_lib.compile(ROW, threads=1)
assert isinstance(ONE_THREAD, CompiledModel)
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (course_lib.compile, COMPILE),
    (load, (GRAPH, None)),
    (signature, (GRAPH,)),
    (trace, (relu, "f32[4]")),
    (inp, ("x", "f32[4]")),
    (const, (1.0, "f32", "c", False)),
    (apply, ("add", const(1.0), const(2.0))),
    (matmul, (const(np.ones((2, 2), "f4")), const(np.ones((2, 2), "f4")))),
    (softmax, (const(np.ones(2, "f4")), -1)),
    (parse_type, ("f32[4]",)),
    (parse_graph, (print_graph(ROW, "exact"),)),
    (parse_kernel, (print_kernel(COPY),)),
    (parse_schedule, ("split(n, 2)",)),
    (print_graph, (GRAPH, "exact")),
    (verify, (GRAPH,)),
    (verify_kernel, (KERNEL,)),
    (interpret, (GRAPH, ARRAYS, None)),
    (run_passes, (GRAPH, WINOGRAD, None, None)),
    *((one, (GRAPH,)) for one in dict.fromkeys(WINOGRAD)),
    (specialize, (GRAPH, [node.type for node in GRAPH.inputs])),
    (widen, (GRAPH,)),
    (to_int8, (ROW, [[np.ones((2, 4), "f4")]])),
    (whole, (ROW, [[np.ones((2, 4), "f4")]])),
    (lower, (ROW,)),
    (plan, (lower(ROW),)),
    (schedule, (lower(ROW), Machine())),
    (to_onnx, (ROW, 20)),
    (host_machine, (1, "host")),
    (Machine, ("mine", 32, 16, 1, 1 << 15, 1 << 18)),
    (Chip, ("mine", 8, 8, True, True, 1 << 12, 1 << 12, 64, 8, (4, 8, 4), 16, 100, 64, 1.0)),
    (SystolicArray, (4, 4, False, "os", False)),
    (cycles, (4, 8, 4, ARRAY)),
    (wavefront, (np.ones((4, 8), int), np.ones((8, 4), int), ARRAY)),
    (products, (GRAPH,)),
    (total_cycles, (products(GRAPH), ARRAY)),
    (utilization, (products(GRAPH), ARRAY)),
    (draw_graph, (GRAPH, (), None, "a title")),
    (before_after, (GRAPH, GRAPH, "a title", False)),
    (tiles, (8, 8, 8, (4, 4, 4))),
    (timeline, ([Span("a", 0, 2, 0, 4)], "a title", "step", None)),
    (table, ([["a", 1.0]], ["name", "ms"], "a title", None)),
    (bars, ([("a", 1.0)], "ms", "a title")),
    (lines, (POINTS, "size (MB)", "time (ms)", "a title", "")),
    (scatter, (POINTS, "size (MB)", "time (ms)", "a title", "")),
    (histogram, ({"ours": [1.0, 2.0]}, "time (ms)", "a title", 8)),
    (roofline, ([Dot("a", 1.0, 1e9)], 1e11, 1e10, "a title")),
    (RUN.stage, ("fold",)),
    (RUN, tuple(ARRAYS)),
    (ONE_THREAD.touched, ([np.ones((2, 4), "f4")],)),
    (predict, (KERNEL, Machine())),
    (misses, (KERNEL, SMALL)),
    (layout_cost, (GRAPH, Machine())),
    (run_kernel, (COPY, {"x": np.ones(8, "f4"), "out": np.zeros(8, "f4")})),
    (Schedule, (parse_schedule("split(n, 2)").steps,)),
    (parse_schedule("split(n, 2)").apply, (KERNEL,)),
    (assembly, (KERNEL, "x86-64")),
    (to_mlir, (ROW, "elided", True)),
    (from_mlir, (to_mlir(ROW), "main")),
    (example_inputs, ("mlp", 0)),
]
CALLS += [(kind.primitive, PRIMITIVES.get(name, (KERNEL, "n"))) for name, kind in STEPS.items()]


EXERCISES = {f"course_lib.{module}" for module in MODULES.values()}


def name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


@contextmanager
def that_ends() -> Iterator[None]:
    """A call that takes long is an error here, and not of the whole test run."""

    def stop(signum: int, frame: Any) -> None:
        raise AssertionError(f"it has not ended after {SECONDS} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def complaint(function: Callable[..., Any], arguments: Sequence[Any], refuse: bool) -> str:
    """What is wrong with how the function takes this; empty if nothing is."""
    try:
        with that_ends():
            function(*arguments)
    except ValueError as error:
        enough = len(re.findall(r"[A-Za-z]{2,}", str(error))) >= 4
        return "" if enough else f"too few words: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "it is accepted" if refuse else ""


def annotations(function: Any, count: int) -> list[Any]:
    """Of the first arguments by position. (What a student may have plugged in is not asked.)"""
    if getattr(function, "__module__", "") in EXERCISES:
        return [Any] * count
    called = type(function).__call__ if isinstance(function, Executable) else function
    kinds_of = get_type_hints(called) if isinstance(called, type) else hints(called)
    kinds: list[Any] = []
    for name, parameter in inspect.signature(function).parameters.items():
        many = parameter.kind is parameter.VAR_POSITIONAL
        kinds += [kinds_of.get(name, Any)] * (count - len(kinds) if many else 1)
    return kinds[:count]


@pytest.mark.parametrize(("function", "right"), CALLS, ids=[name_of(f) for f, _ in CALLS])
def test_a_wrong_argument_is_said_in_words(function, right):
    function(*right)  # nothing is wrong with these
    kinds, found = annotations(function, len(right)), {}
    for position in range(len(right)):
        for make in ZOO:
            value = make()
            wrong = not fits(value, kinds[position])
            given = (*right[:position], value, *right[position + 1 :])
            if said := complaint(function, given, refuse=wrong):
                found[position, f"{value!r:.20}"] = said[:200]
    assert found == {}


@pytest.mark.parametrize("threads", [-1, 0, 2.0, "two", True, math.nan, [1]])
def test_threads_are_a_whole_number_of_at_least_one(threads):
    with pytest.raises(ValueError, match=r"threads (is a whole number|must be at least 1)"):
        course_lib.compile(ROW, threads=threads)


def test_what_the_annotation_says_is_what_fits():
    assert fits(np.int64(3), int) and not fits(True, int) and not fits(3.0, int)
    assert fits(3, float) and not fits("3", float) and fits(np.bool_(True), bool)
    assert fits(("a", "b"), Sequence[str]) and not fits("ab", Sequence[str])
    assert fits({"a": "b"}.values(), Sequence[str])
    assert fits(np.ones((3, 2)), Sequence[tuple[float, float]])
    assert not fits(np.float32(1), Sequence[float])
    assert fits((1, 2), tuple[int, int]) and not fits((1, 2, 3), tuple[int, int])
    assert fits({"a": 1}, Mapping[str, int]) and not fits({"a": "1"}, Mapping[str, int])
    assert fits(None, int | None) and fits(print, Callable[[int], int] | None)


@takes
def scaled(x: float, *more: int, times: tuple[int, int] | None = None) -> str:
    return f"{x} {more} {times}"


def test_every_argument_is_looked_at_wherever_it_stands():
    assert scaled(1.5, 2, 3, times=(4, 5)) == "1.5 (2, 3) (4, 5)"
    with pytest.raises(ValueError, match=r"^scaled: more is a whole number, got 'b' \(a str\)$"):
        scaled(1.5, 2, "b")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"times is \(a whole number, a whole number\) or None, got"
    ):
        scaled(1.5, times=(4, None))  # type: ignore[arg-type]


@takes
def misspelt(count: int, of: "Sequence[Grpah]") -> str:  # type: ignore  # noqa: F821
    return f"{count} {of}"


def test_a_misspelt_annotation_is_an_error_and_takes_nothing():
    with pytest.raises(NameError, match=r"an annotation of .*test_arguments says Grpah"):
        misspelt(1, [ROW])


def test_what_is_imported_for_type_checkers_alone_is_compared_by_name():
    kinds = hints(course_lib.compile)
    assert fits(Chip(), kinds["chip"]) and not fits(RUN, kinds["chip"])


def test_the_annotations_of_all_that_looks_at_its_arguments_are_known(root):
    files = [file for file in (root / "course_lib").rglob("*.py") if "@takes" in file.read_text()]
    names = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    made = [one for name in names for one in vars(import_module(name)).values()
            if inspect.isfunction(one) and one.__module__ == name]  # fmt: skip
    assert len(made) > len(files)
    for one in made:
        hints(one)  # NameError if it says what is not there


def returns_nothing(x):
    relu(x)


def compares(x):
    return x == x


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: np.ones(4) + inp("x", "f32[4]"), "operands must have one element type, got f64, f32"),
    (lambda: np.exp(inp("x", "f32[4]")), "operand 'Node' does not support ufuncs"),  # type: ignore
    (lambda: trace(lambda x: x if x else -x, "f32[]"), "it is neither true nor false"),
    (lambda: trace(returns_nothing, "f32[4]"), "returned None; is a `return` missing"),
    (lambda: trace(compares, "f32[4]"), "`==` asks whether two nodes are one and the same"),
    (lambda: Graph.of([inp("x", "f32[4]")], [3]), "has nodes as inputs and outputs, got 3"),  # type: ignore
    (lambda: course_lib.compile(ROW, search="none.json"), "there is no file none.json"),
    (lambda: course_lib.compile(Machine), "got the class Machine itself"),
    (lambda: RUN(X), r"takes 2 inputs \['x0', 'x1'\], got 1"),
    (lambda: RUN(X, None), r"input %x1 must be f32\[4,2,3,3\]: element type object"),
    (lambda: RUN(X, [[1.0], [1.0, 2.0]]), "a list cannot be made into an array: .* inhomogeneous"),
    (lambda: example_inputs("vgg"), "there is no model 'vgg'; the course has mlp, block"),
    (lambda: run_kernel(COPY, {}), r"there is no array for x, f32\[8\]"),
    (lambda: tune(ROW, seconds=math.nan), "the seconds to search are 0 or more, got nan"),
]


@pytest.mark.parametrize(("use", "said"), WRONG, ids=[said[:40] for _, said in WRONG])
def test_what_people_do_by_mistake_is_said_in_words(use, said):
    with pytest.raises((ValueError, TypeError), match=said):
        use()


def test_arrays_and_numbers_on_the_left_make_nodes():
    def both(x):
        return np.eye(4, dtype="f4") @ (np.ones((4, 1), "f4") - np.float32(2) ** x)

    x = np.arange(4, dtype="f4").reshape(4, 1)
    assert np.array_equal(course_lib.compile(trace(both, "f32[4,1]"))(x), 1 - 2**x)


def test_the_verifier_refuses_a_bound_that_is_no_whole_number():
    loop = COPY.body[0]
    assert isinstance(loop, Loop)
    halves = replace(COPY, body=(replace(loop, stop=Affine((), 2.5)),))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"kernel @k: 2\.5 is not made of whole numbers"):
        verify_kernel(halves)
