"""All forms of a function or model on one card, from the graph to instructions.

    explore(lambda x, w: (x @ w).relu(), x, w)       # the last line of a cell: drawn
    explore(MODELS["mlp"].build(), *example_inputs("mlp")).save("mlp.html")

A line that computes the same has the same key in every form: the number of a kernel, or of a line
of its loops. What passes make of a node says where it comes from: `loc("%3")`. Next room:
`compiler.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from course_lib.accelerator.isa.text import disassemble
from course_lib.arguments import takes
from course_lib.compiler import compile, read
from course_lib.draw.base.forms import Form, forms
from course_lib.draw.base.picture import Picture
from course_lib.draw.graphs.lines import node_lines
from course_lib.ir.arrays import as_array
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.loops.program import Program
from course_lib.ir.types import type_of
from course_lib.lower.lower import lower
from course_lib.packages import need
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose

Lines = Iterable[tuple[str, str]]  # text and key
Keys = dict[str, str]  # by origin, "%3": the number of the kernel that computes it


@takes
def explore(f: Any, *inputs: Any, longest: int = 400, chip: str = "npu") -> Picture:
    """Everything that a program is on its way to a processor, to a GPU and to the chip, in tabs.

    f        a torch.nn.Module, an ONNX file, a Graph; or a function of tensors, or of nodes of our
             own IR (`ir/graph/build.py`) where the inputs are arrays
    inputs   as it is called: arrays or tensors
    longest  lines of a form that are shown; the rest is counted
    chip     the preset whose program is shown

    It compiles with what is plugged in. What another device cannot run stands in its tab, in words.
    ValueError as `compile` raises it. MissingPackage without llvmlite.
    """
    need("llvmlite")
    captured = _captured(f, inputs)
    named = _with_names_as_origins(captured)
    run = compile(named, list(inputs) or None)
    program = run.stage("scheduled").form
    keys = _keys_of(program)
    kernels = [step.kernel for step in program.steps]
    of = [
        Form("captured graph", _cut(_of_graph(captured, named, keys), longest),
             "As it was read; a line without a number is computed at compile time, or not at all."),
        Form("after passes", _cut(_of_graph(run.graph, run.graph, keys), longest),
             "Each numbered line becomes one kernel."),
        Form("loops", _cut(_each(_textbook(run.graph), _in_order, keys), longest),
             "Loop nests over buffers, in textbook order."),
        Form("scheduled loops", _cut(_each(kernels, _scheduled, keys), longest),
             "What the schedule made of them; keys are a kernel and a line."),
        *_of_the_processor(kernels, keys, longest),
        Form("PTX", _cut(_each(_textbook(run.graph), _ptx, keys), longest),
             "For an NVIDIA GPU (sm_80), a thread for each point of a result; not run here.", True),
        Form("chip", _cut(_of_chip(named, inputs, chip, keys), longest),
             f"Instructions of the chip {chip}, in 8-bit integers.", True),
    ]  # fmt: skip
    return forms(of, f"@{captured.name}, from the graph to instructions", _summary(kernels))


def _captured(f: Any, inputs: Sequence[Any]) -> Graph:
    is_model = any(hasattr(f, name) for name in ("state_dict", "graph_module", "opset_import"))
    if is_model or isinstance(f, (type, Graph)) or not callable(f):
        return read(f, list(inputs) or None)
    name = getattr(f, "__name__", "")
    name = name if name.isidentifier() else "main"
    if any(type(x).__module__.partition(".")[0] == "torch" for x in inputs):
        from course_lib.frontend.torch.function import as_module  # torch is heavy

        return read(as_module(f, name), list(inputs))
    return trace(f, *(type_of(as_array(x)) for x in inputs), name=name)


def _with_names_as_origins(graph: Graph) -> Graph:
    """The same graph, in which each node comes from its line in the printed one, "%3"."""
    names = value_names(graph)

    def renamed(node: Node, operands: tuple[Node, ...]) -> Node | None:
        if node.op == "input":
            return None
        return Node(node.op, operands, node.attrs, node.type, node.name, (f"%{names[node]}",))

    return graph.rebuild(renamed)


def _keys_of(program: Program) -> Keys:
    """Of two kernels with one origin (a node was taken apart) the last one has its value."""
    numbered = enumerate((step.node for step in program.steps), 1)
    return {origin: f"{k}" for k, node in numbered for origin in node.origin}


def _key(origin: Iterable[str], keys: Keys) -> str:
    """The last kernel to which any of them leads."""
    return max((keys[name] for name in origin if name in keys), key=int, default="")


def _of_graph(graph: Graph, named: Graph, keys: Keys) -> Lines:
    """The text of a graph; `named` has the same nodes, with names as origins."""
    same = dict(zip(graph.nodes, named.nodes, strict=True))
    key = ""
    for text, what in node_lines(graph):
        if what in same:
            node = same[what]  # type: ignore[index]
            key = "" if node.op == "constant" else _key(node.origin, keys)
        elif isinstance(what, tuple) and what[1] == "graph":
            key = ""
        yield text, key  # a line inside a group has that of the group


def _textbook(graph: Graph) -> Iterator[Kernel | None]:
    return (step.kernel for step in lower(everywhere(graph, decompose)).steps)


def _each(
    kernels: Iterable[Kernel | None], lines: Callable[[Kernel, str], Lines], keys: Keys
) -> Lines:
    """The lines of each kernel under its name."""
    for kernel in kernels:
        if kernel is not None:
            yield from lines(kernel, _key(kernel.origin, keys))
            yield "", ""


def _in_order(kernel: Kernel, key: str) -> Lines:
    return ((line, key) for line in print_kernel(kernel).splitlines())


def _scheduled(kernel: Kernel, key: str) -> Lines:
    return ((line, f"{key}.{k}") for k, line in enumerate(print_kernel(kernel).splitlines(), 1))


def _of_the_processor(kernels: Sequence[Kernel | None], keys: Keys, longest: int) -> list[Form]:
    from course_lib.llvm.host import instruction_set  # llvmlite is heavy

    processor, _ = instruction_set("host")
    words = (
        f"for {processor}; what LLVM merged of several lines has the number of its kernel alone."
    )
    ways = {"LLVM IR": "llvm_ir", "assembly": "assembly"}
    return [
        Form(name, _cut(_each(kernels, _located(field), keys), longest), f"{name} {words}", True)
        for name, field in ways.items()
    ]


def _located(field: str) -> Callable[[Kernel, str], Lines]:
    from course_lib.llvm.inspect.source import source  # llvmlite is heavy

    def lines(kernel: Kernel, key: str) -> Lines:
        return ((text, f"{key}.{line}" if line else key)
                for text, line in getattr(source(kernel), field))  # fmt: skip

    return lines


def _ptx(kernel: Kernel, key: str) -> Lines:
    from course_lib.llvm.processors import assembly  # llvmlite is heavy

    try:
        text = assembly(kernel, "nvptx")
    except ValueError as error:
        return [(f"not emitted: {error}", key)]
    code = (line for line in text.splitlines() if line.strip() and not line.startswith("//"))
    return ((line.expandtabs(4), key) for line in code)


def _of_chip(named: Graph, inputs: Sequence[Any], chip: str, keys: Keys) -> Lines:
    try:
        run = compile(named, list(inputs) or None, target="systolic", chip=chip)
    except ValueError as error:
        yield f"not for the chip: {error}", ""
        return
    offloaded = run.offloaded  # type: ignore[attr-defined]
    if not offloaded.programs:
        yield "nothing of it runs on the chip", ""
        yield from ((f"  {why}", "") for why in offloaded.partition.refusals)
    for program in offloaded.programs:
        for instruction in program.program:
            (text,) = disassemble([instruction]).splitlines()
            yield text, _key(instruction.origin, keys)


def _cut(lines: Lines, longest: int) -> list[tuple[str, str]]:
    """The first of them; the others are not even made."""
    shown = list(islice(lines, longest + 1))
    return [*shown[:longest], ("... and more lines", "")] if len(shown) > longest else shown


def _summary(kernels: Sequence[Kernel | None]) -> str:
    count = sum(kernel is not None for kernel in kernels)
    return (
        f"{count} kernel{'' if count == 1 else 's'} after the passes. In front of a line stands "
        "its kernel (1), or the line of that kernel's scheduled loops that it comes from (1.10)."
    )
