"""Tables and texts of the lab, made with the student's own functions.

    annotated(code, loops)         C++ with what each loop does beside its head
    launches_table(text, ...)      a row for each launch of a text
    tiles_table(tile)              the tiles of the block's kernels on the GPU
    bought_table(moved)            launches, bytes and times before and after, on the GPU

Next room: autograder/units/u15_lab_block/exercises.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.draw.plots.table import table
from lessons.u15_lab_block.eager import Launch, eager
from lessons.u15_lab_block.text import BY_GPU, cpp, code_of

KERNELS: dict[str, list[list[Any]]] = BY_GPU.data("kernels")  # name, microseconds, grid, threads
MANY: dict[str, list[list[Any]]] = BY_GPU.data("64 sentences")
MS: dict[str, dict[str, float]] = BY_GPU.data("ms")
PRODUCTS = ("addmm", "bmm", "mm")
Moved = Callable[[str], list[Launch]]
MARGIN = 52  # where the notes begin


def annotated(code: str, loops: Callable[[str], list[dict[str, Any]]]) -> str:
    """The kernel with a note beside the head of each loop."""
    rows, lines = iter(loops(code)), []
    for line in code.rstrip().splitlines():
        if line.lstrip().startswith("for("):
            row = next(rows)
            lines.append(f"{line:<{MARGIN}}// {_note(row)}")
        else:
            lines.append(line)
    return "\n".join(lines)


def _note(row: dict[str, Any]) -> str:
    parts = [f"{row['times']:,} times"]
    parts += [f"{row['step']} numbers at once"] * (row["step"] > 1)
    parts += ["shared by threads"] * row["shared"]
    if row["loads"]:
        kind = row["reduces"] and f"{row['reduces']} of "
        parts.append(f"{kind}{', '.join(row['loads'])}")
    return "; ".join(parts) + (f" -> {', '.join(row['stores'])}" if row["stores"] else "")


def launches_table(text: str, launched: Callable[..., Any], moved: Moved, title: str) -> Any:
    """Each launch with its operations and its bytes."""
    rows = []
    for (name, operations), (_, read, written) in zip(launched(text), moved(text), strict=True):
        rows.append([name, ", ".join(operations), read / 1e3, written / 1e3])
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
        programs = [" and ".join(str(r[2][0]) for r in some) if len(parts[0]) > 2 else "not recorded"
                    for some in (parts, [one])]  # fmt: skip
        rows.append([sentences, "eager: div, softmax", sum(r[1] for r in parts), programs[0]])
        rows.append([sentences, "compiled: one kernel", one[1], programs[1]])
    return table(rows, ["sentences", "kernels", "time (µs)", "programs"], BY_GPU.words)


def of_products(launches: Sequence[Launch], which: bool) -> list[Launch]:
    """The products of matrices, or everything else."""
    return [row for row in launches if (row[0].split(".")[-1] in PRODUCTS) == which]


def megabytes(launches: Sequence[Launch]) -> float:
    return sum(read + written for _, read, written in launches) / 1e6


def saved(name: str, text: str, moved: Moved) -> float:
    """How many percent of the bytes of eager mode compiling saves."""
    return 100 * (1 - megabytes(moved(text)) / megabytes(eager(name)))


def bytes_table(moved: Moved) -> Any:
    """Launches and bytes of both programs on this processor, before and after."""
    rows = []
    for name, parts in (("gelu", (False,)), ("block", (True, False))):
        after = moved(cpp(name)[0])
        for which in parts:
            sides = of_products(eager(name), which), of_products(after, which)
            what = f"{name}, {'products' if which else 'everything else'}"
            rows.append([what if len(parts) > 1 else name, *map(len, sides), *map(megabytes, sides)])
    heads = ["program", "launches, eager", "compiled", "moved, eager (MB)", "compiled (MB)"]
    return table(rows, heads)


def gpu_table() -> Any:
    """Times of all kernels on the GPU, and of a whole call."""
    rows = []
    for name, key, both in (
        ("gelu", "gelu", (KERNELS["gelu, eager"], KERNELS["gelu, compiled"])),
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
