"""Tables and texts of the lab, made with the student's own functions.

    annotated(code, loops)                  C++ with what each loop does below its head
    launches_table(text, launched, title)   a row for each launch of a text
    tiles_table(tile)                       the tiles of the block's kernels on the GPU
    bytes_table(launched), gpu_table()      before and after: launches and bytes, times

Next room: autograder/units/u15_lab_block/exercises.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.draw.plots.table import table
from lessons.u15_lab_block.eager import eager
from lessons.u15_lab_block.text import BY_GPU, SHAPES, code_of, cpp

KERNELS: dict[str, list[list[Any]]] = BY_GPU.data("kernels")  # name, microseconds, grid, threads
MANY: dict[str, list[list[Any]]] = BY_GPU.data("64 sentences")
MS: dict[str, dict[str, float]] = BY_GPU.data("ms")
# How many programs the softmax of the block had along each axis, and how many threads each had.
SOFTMAX = next((tuple(row[2]), row[3]) for row in KERNELS["block, compiled"] if "softmax" in row[0])
PRODUCTS = ("addmm", "bmm", "mm")
Launched = Callable[[str], list[tuple[str, list[str], int, int]]]


def annotated(code: str, loops: Callable[[str], list[dict[str, Any]]]) -> str:
    """The kernel with a note below the head of each loop."""
    rows, lines = iter(loops(code)), []
    for line in code.rstrip().splitlines():
        lines.append(line)
        if line.lstrip().startswith("for("):
            lines.append(f"{line.partition('for(')[0]}    // {_note(next(rows))}")
    return "\n".join(lines)


def _note(row: dict[str, Any]) -> str:
    kind = row["reduces"] and f"{row['reduces']} of "
    parts = [f"{row['times']:,} times", f"{row['step']} numbers at once" * (row["step"] > 1),
             "shared by threads" * row["shared"], kind + ", ".join(row["loads"])]  # fmt: skip
    to = f" -> {', '.join(row['stores'])}" if row["stores"] else ""
    return "; ".join(filter(None, parts)) + to


def launches_table(text: str, launched: Launched, title: str) -> Any:
    """Each launch with its operations and its bytes."""
    rows = [[name, ", ".join(operations), read / 1e3, written / 1e3]
            for name, operations, read, written in launched(text)]  # fmt: skip
    return table(rows, ["launch", "operations", "reads (kB)", "writes (kB)"], title)


def tiles_table(tile: Callable[..., dict[str, int]]) -> Any:
    """The kernels of the block as the GPU ran them: blocks, numbers of a thread, programs."""
    rows = []
    for name, us, grid, threads in KERNELS["block, compiled"]:
        if name.startswith("triton"):
            blocks = dict(tile(code_of(BY_GPU["block"], name), tuple(grid), threads))
            each = blocks.pop("each")
            shape = " × ".join(f"{blocks[b]:,}" for b in sorted(blocks, reverse=True))
            rows.append([name, shape, threads, each, grid[0], us])
    heads = ["kernel", "tile, XBLOCK first", "threads of a program", "numbers of a thread",
             "programs", "time (µs)"]  # fmt: skip
    return table(rows, heads, f"one sentence, {BY_GPU.words}")


def softmax_table() -> Any:
    """The kernels between the two products of attention, for 1 sentence and for 64."""
    rows = []
    for sentences, eager_rows, compiled in (
        (1, KERNELS["block, eager"], KERNELS["block, compiled"]),
        (64, MANY["eager"], MANY["compiled"]),
    ):
        parts = [row for row in eager_rows if row[0] in ("div", "softmax")]
        (one,) = [row for row in compiled if "softmax" in row[0]]
        programs = [" and ".join(str(row[2][0]) for row in some if len(row) > 2) or "not recorded"
                    for some in (parts, [one])]  # fmt: skip
        rows.append([sentences, "eager: div, softmax", sum(r[1] for r in parts), programs[0]])
        rows.append([sentences, "compiled: one kernel", one[1], programs[1]])
    return table(rows, ["sentences", "kernels", "time (µs)", "programs"], BY_GPU.words)


def megabytes(rows: Sequence[Sequence[Any]]) -> float:
    """What rows move that end in bytes read and bytes written."""
    return sum(row[-2] + row[-1] for row in rows) / 1e6


def saved(name: str, text: str, launched: Launched) -> float:
    """How many percent of the bytes of eager mode compiling saves."""
    return 100 * (1 - megabytes(launched(text)) / megabytes(eager(name)))


def bytes_table(launched: Launched) -> Any:
    """Launches and bytes of both programs on this processor, before and after."""
    rows = []
    for name in ("gelu", "block"):
        sides = eager(name), launched(cpp(name)[0])
        for what in ("products", "everything else"):
            parts = [[row for row in side if (row[0].split(".")[-1] in PRODUCTS)
                      == (what == "products")] for side in sides]  # fmt: skip
            if any(parts):
                label = f"{name}, f32{[*SHAPES[name]]}" + f": {what}" * (name == "block")
                rows.append([label, *map(len, parts), *map(megabytes, parts)])
    heads = ["program", "launches, eager", "compiled", "moved, eager (MB)", "compiled (MB)"]
    return table(rows, heads, "both programs on this processor")


def gpu_table() -> Any:
    """Times of all kernels on the GPU, and of a whole call."""
    rows = []
    for name, key, both in (
        ("gelu, f32[8, 1024, 4096]", "gelu", (KERNELS["gelu, eager"], KERNELS["gelu, compiled"])),
        ("block, 1 sentence", "block", (KERNELS["block, eager"], KERNELS["block, compiled"])),
        ("block, 64 sentences", "block_b64", (MANY["eager"], MANY["compiled"])),
    ):
        for what in ("products", "everything else"):
            sides = [[r[1] for r in side if ("product" in r[0]) == (what == "products")]
                     for side in both]  # fmt: skip
            if any(sides):
                rows.append([f"{name}: {what}", *map(len, sides), *map(sum, sides)])
        calls = [1e3 * MS[key][way] for way in ("eager", "compiled")]
        rows.append([f"{name}: a whole call", None, None, *calls])
    heads = ["program", "kernels, eager", "compiled", "time, eager (µs)", "compiled (µs)"]
    return table(rows, heads, BY_GPU.words)
