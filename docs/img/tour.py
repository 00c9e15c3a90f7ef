"""The README's picture: one layer in all its forms. `python docs/img/tour.py` redraws it.

Everything in it comes from a real compilation on the machine that runs this: the loops, the LLVM IR
and the machine code are excerpts, chosen by looking for the multiply-add, which is marked in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from course_lib.accelerator.systolic import SystolicArray, clocks, cycles
from course_lib.draw.base.picture import framed
from course_lib.draw.base.svg import drawing, label, points, shorten, tag
from course_lib.draw.base.units import digits, scaled
from course_lib.draw.graphs.boxes import draw_scene, lay_out
from course_lib.draw.graphs.scene import scene
from course_lib.ir.registry import flops
from course_lib.runtime.executable import Executable

SOURCE = """\
import torch, course_lib
from torch import nn

layer = nn.Sequential(
    nn.Linear(512, 256),
    nn.ReLU(),
).eval()
x = torch.randn(64, 512)

run = course_lib.compile(layer, [x])
y = run(x)"""

WIDE, HIGH, GAP, MARGIN, TOP = 312.0, 318.0, 24.0, 14.0, 62.0
LINE, LETTERS = 12.4, 48
CHIP = SystolicArray(rows=32, cols=32)


def tour(path: Path) -> None:
    """Compile the layer and draw its forms, in the order in which they are made."""
    given: dict[str, object] = {}
    exec(SOURCE, given)
    run = given["run"]
    assert isinstance(run, Executable)
    cards = [
        ("PyTorch", "what you write", _text(SOURCE.splitlines(), "Linear(")),
        _graph(run),
        _loops(run),
        _llvm(run),
        _machine_code(run),
        _chip(),
    ]
    title = "One layer, from PyTorch to machine code and to a chip"
    summary = (
        "Each form can be printed; all but LLVM IR can be run. ◆ marks the multiply-add in each."
    )
    content = [label(MARGIN, 26, title, "cl-h"), label(MARGIN, 45, summary, "cl-c cl-m")]
    for k, (name, caption, body) in enumerate(cards):
        x, y = MARGIN + k % 3 * (WIDE + GAP), TOP + k // 3 * (HIGH + GAP)
        content.append(
            tag("g", *_card(name, caption, body), transform=f"translate({points(x, y)})")
        )
        if k in (0, 1, 3):
            content.append(_arrow(x + WIDE, y + HIGH / 2))
        if k == 4:  # not the next form, but another target
            content.append(label(x + WIDE + GAP / 2, y + HIGH / 2, "or", "cl-c cl-mid cl-m"))
    width, height = 3 * WIDE + 2 * GAP + 2 * MARGIN, TOP + 2 * HIGH + GAP + MARGIN
    text = "\n".join(f"{name}: {caption}" for name, caption, _ in cards)
    framed(title, drawing(title, summary, width, height, content), text).save(path)


Card = tuple[str, str, list[str]]


def _card(name: str, caption: str, body: list[str]) -> list[str]:
    frame = tag("rect", x=0, y=0, width=WIDE, height=HIGH, rx=6, klass="cl-grid")
    words = [label(12, 20, name, "cl-c cl-b"), label(12, HIGH - 10, caption, "cl-l cl-m")]
    return [frame, *words, *body]


def _arrow(x: float, y: float) -> str:
    shape = f"M{points(x + 4, y)}h{points(GAP - 10)}m-4-4l4 4-4 4"
    return tag("path", d=shape, klass="cl-axis", stroke_width=1.4)


def _text(lines: Sequence[str], *marks: str) -> list[str]:
    """Lines of code; those in which one of `marks` occurs are marked."""
    content = []
    for k, line in enumerate(lines):
        y = 42 + k * LINE
        if any(mark in line for mark in marks):
            content.append(
                tag(
                    "rect",
                    x=4,
                    y=y - 10,
                    width=WIDE - 8,
                    height=LINE,
                    klass="cl-marked",
                    style="stroke:none",
                )
            )
            content.append(label(6, y, "◆", "cl-p cl-t-marked"))
        words = label(18, y, shorten(line.expandtabs(2), LETTERS), "cl-p")
        content.append(words.replace("<text ", '<text xml:space="preserve" ', 1))
    return content


def _graph(run: Executable) -> Card:
    graph = run.stage("fuse").form
    (kernel,) = [n for n in graph.nodes if n.op == "fused"]
    (product,) = [n for n in kernel.attrs["body"].nodes if n.op == "matmul"]
    seen = scene(graph, {product: "marked"}, {})
    layout = lay_out(seen)
    scale = min(1.0, (WIDE - 20) / layout.width, (HIGH - 70) / layout.height)
    shift = f"translate({points((WIDE - layout.width * scale) / 2, 36)}) scale({scale:.3f})"
    caption = f"{scaled(flops(kernel), 'FLOP')} in one kernel of {_ops(kernel)} ops"
    return "Graph", caption, [tag("g", *draw_scene(seen, layout), transform=shift)]


def _ops(kernel) -> int:
    return len(kernel.attrs["body"].ops)


def _loops(run: Executable) -> Card:
    lines = run.stage("scheduled").text.split("kernel @")[1].splitlines()[1:-1]
    loops = {word: sum(word in line for line in lines) for word in ("parallel", "vector", "unroll")}
    caption = f"{loops['parallel']} parallel, {loops['vector']} vector, {loops['unroll']} unrolled"
    zeroing = next(k for k, line in enumerate(lines) if "unroll" in line)
    adding = next(k for k, line in enumerate(lines) if "for k" in line)
    shown = _narrow([*lines[:zeroing], "      …", *lines[adding:]])
    return "Loops", f"{caption} loops", _text(shown, "acc[mi_2", "* x1")


def _narrow(lines: list[str]) -> list[str]:
    """One space for each level; a line that is too long goes on below itself."""
    result = []
    for line in lines:
        indent = " " * ((len(line) - len(line.lstrip())) // 2 - 1)
        line = indent + line.lstrip()
        if len(line) > LETTERS:
            cut = line.find(" += ") if " += " in line else line.find(" = ")
            result.append(line[:cut])
            line = f"{indent} {line[cut + 1 :]}"
        result.append(line)
    return result


def _llvm(run: Executable) -> Card:
    lines = run.stage("optimized").text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("k.body:"))
    body = lines[start : _end(lines, start, lambda line: line.startswith("  br "))]
    products = sum("fmul" in line for line in body)
    loads = next(k for k, line in enumerate(body) if "getelementptr" in line)
    shown = [
        body[0].split(";")[0].rstrip(),
        body[1],
        body[2],
        "  …",
        *body[loads : loads + 16],
        "  …",
    ]
    return (
        "LLVM IR",
        f"{products} multiply-adds of whole vectors in the inner loop",
        _text(shown, "contract"),
    )


def _machine_code(run: Executable) -> Card:
    lines = run.stage("assembly").text.splitlines()
    first = next(k for k, line in enumerate(lines) if "vfmadd" in line or "fmla" in line)
    start = max(k for k in range(first) if lines[k].startswith(".LBB"))
    body = lines[start : _end(lines, start, lambda line: line.strip().startswith("j"))]
    fused = [line for line in body if "fmadd" in line or "fmla" in line]
    caption = f"{len(fused)} of {len(body) - 1} instructions are fused multiply-adds"
    return "Machine code", caption, _text([*body[:18], "  …", *body[-2:]], "fm")


def _end(lines: list[str], start: int, last: Callable[[str], bool]) -> int:
    return next(k for k in range(start + 1, len(lines)) if last(lines[k])) + 1


def _chip() -> Card:
    """One clock of a small array; and the cycles of the whole layer on a larger one."""
    size, side, gap = 4, 56.0, 10.0
    a = np.arange(1, 17).reshape(size, size) % 5
    state = list(clocks(a, a.T))[4]
    left = (WIDE - size * side - (size - 1) * gap) / 2
    content = [
        label(WIDE / 2, 46, f"a systolic array of 4 × 4 cells, clock {state.number}", "cl-l cl-mid")
    ]
    for i, j in np.ndindex(size, size):
        x, y, busy = left + j * (side + gap), 58 + i * (side + gap) * 0.94, state.busy[i, j]
        look = "cl-marked" if busy else "cl-stall"
        content.append(tag("rect", x=x, y=y, width=side, height=side * 0.84, rx=3, klass=look))
        words = [f"{state.a[i, j]} · {state.b[i, j]}" if busy else "", f"Σ {state.acc[i, j]}"]
        content += [
            label(x + side / 2, y + 20 + 15 * k, w, "cl-p cl-mid") for k, w in enumerate(words) if w
        ]
    taken = cycles(64, 512, 256, CHIP)
    useful = 64 * 512 * 256 / (CHIP.rows * CHIP.cols) / taken
    caption = f"this layer on 32 × 32 cells: {taken:,} cycles, {digits(100 * useful)} % busy"
    return "Accelerator", caption, content


if __name__ == "__main__":
    tour(Path(__file__).with_suffix(".svg"))
