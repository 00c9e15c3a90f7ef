"""What unit 9 searches, counts and draws: trees of searches, tables of what they found.

Next room: `measuring.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from course_lib.cost.machine import Machine
from course_lib.cost.nest import CLOCK, Prediction, predict
from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.svg import label, shorten, tag
from course_lib.draw.plots.charts import lines
from course_lib.draw.plots.figure import Plot
from course_lib.draw.plots.table import table
from course_lib.exercises import plugs_now
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.search.beam import beam, beam_search
from course_lib.schedule.search.problem import Budget, Candidate, Problem, Record, nameless
from lessons.bill import bill_of
from lessons.u09.landscapes import LAYERS, SHAPES, Landscape, Place, problem_of
from lessons.u09.luck import DEPTH, LUCK, so_far

FIRST = next(iter(SHAPES))  # the convolution of the opening question
# Clocks of the cheapest schedule that anyone has found, by the cost model: a beam of width 24 and
# the search that recorded the landscapes. tests/units/test_u09.py compares.
BEST_KNOWN: dict[str, int] = {
    "64 → 64, 56 × 56": 8_510_142,
    "128 → 128, 28 × 28": 8_836_108,
    "256 → 256, 14 × 14": 9_489_776,
    "512 → 512, 7 × 7": 9_779_504,
}
_PRICES: dict[tuple[str, Machine], Prediction] = {}


def price(kernel: Kernel, machine: Machine) -> Prediction:
    """`predict`, which counts a kernel that several searches ask for only once."""
    key = (nameless(kernel), machine)
    if key not in _PRICES:
        _PRICES[key] = predict(kernel, machine)
    return _PRICES[key]


def layer(name: str = FIRST) -> Problem:
    return problem_of(SHAPES[name])


def double() -> Problem:
    """The smallest kernel with something to decide."""
    kernel = parse_kernel("""
    kernel @twice(x: f32[4,6], out: f32[4,6]) {
      for i in 0..4 { for j in 0..6 { out[i, j] = x[i, j] + x[i, j] } } }""")
    return Problem(kernel, Machine("4 lanes", vector_bytes=16, registers=8))


def wide(name: str, width: int) -> Record:
    """A beam on a layer, by the cost model alone, until it ends."""
    return _wide(name, width, plugs_now().get("schedule.beam_search"))


@functools.lru_cache(maxsize=16)
def _wide(name: str, width: int, plugged: object) -> Record:
    return beam(layer(name), Budget(priced=100_000), price, width=width, depth=DEPTH)


def clocks(candidate: Candidate) -> float:
    return (candidate.seconds or 0.0) * CLOCK


def million(value: float) -> float:
    return round(value / 1e6, 2)


def exactly(value: float) -> str:
    """Millions with two digits, where a hundredth tells."""
    return f"{value / 1e6:.2f}"


# ── how wide ──


def on_record(name: str, width: int) -> tuple[float, int]:
    """Clocks of what a beam finds for a layer, and how many schedules it prices. On the first layer
    narrow ones ran before; on a recorded tree those up to width 4 see the same at once."""
    if name == FIRST and width <= 2:
        return clocks(wide(name, width).best), wide(name, width).priced
    land, priced, asked = _counted(name)
    best: Any = beam_search((), lambda state: land.tree.get(state, ()), priced, width, DEPTH)
    return land.price(best), len(asked) - 1  # a beam on the layer itself does not price the start


def _counted(name: str) -> tuple[Landscape, Callable[..., float], list[Any]]:
    """A recorded tree, its prices, and the states that they were asked of."""
    land, asked = LAYERS[name], []

    def priced(state: Any) -> float:
        asked.append(state)
        return land.price(tuple(state))

    return land, priced, asked


def impatient(land: Landscape) -> tuple[float, int]:
    """Clocks of what greedy search finds if it stops at the first round that gains nothing, and how
    many schedules it prices."""
    here: Place = ()
    count = 0
    while following := land.tree.get(here):
        count += len(following)
        best = min(following, key=land.price)
        if land.price(best) >= land.price(here):
            break
        here = best
    return land.price(here), count


def widths_table(widths: Sequence[int] = (1, 2, 4)) -> Picture:
    """What beams of several widths find for the four layers, and how many schedules they price;
    above them the default, which is listed first, and a greedy search without patience."""
    lands = [LAYERS[name] for name in SHAPES]
    rows = [["default", *(exactly(land.price(land.tree[()][0])) for land in lands), "1"]]
    found = {"greedy that stops without gain": [impatient(land) for land in lands]}
    for width in widths:
        found[f"beam of width {width}"] = [on_record(name, width) for name in SHAPES]
    for words, results in found.items():
        least, counts = zip(*results, strict=True)
        rows.append([words, *map(exactly, least), f"{min(counts)} to {max(counts)}"])
    heads = ["million clocks", *SHAPES, "priced (count)"]
    return table(rows, heads, exact=heads[1:])


# ── luck ──


def best_after(run: Sequence[Sequence[float]], count: int) -> float:
    """What a search has found after so many prices."""
    return next(least for n, least in reversed(run) if n <= count or n == run[0][0])


def searches() -> dict[str, Sequence[Sequence[Sequence[float]]]]:
    """The runs of each search on the first layer: two that need no luck, and those recorded."""
    runs = {"greedy": [so_far(wide(FIRST, 1))], "beam, width 2": [so_far(wide(FIRST, 2))]}
    return {**runs, **{words: LUCK[words] for words in ("random", "evolution")}}


def progress_plot() -> Plot:
    """The best so far against the number of schedules priced: the median of several runs, and a
    band from the best of them to the worst."""
    series, bands = {}, []
    for words, runs in searches().items():
        last = max(int(run[-1][0]) for run in runs)
        counts = range(1, last + 1)
        best = [[best_after(run, n) for run in runs] for n in counts]
        middle = [(n, median(some)) for n, some in zip(counts, best, strict=True)]
        series[words] = corners(middle)
        bands.append((counts, [min(some) for some in best], [max(some) for some in best]))
    plot = lines(series, "schedules priced (count)", "best so far (million clocks)",
                 f"{FIRST}: four searches")  # fmt: skip
    for line, (counts, low, high) in zip(plot.axes.get_lines(), bands, strict=True):
        line.set_marker("")
        plot.axes.fill_between(counts, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    return plot


def corners(line: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The points at which a line of steps turns."""
    steps = [k for k in range(1, len(line)) if line[k][1] != line[k - 1][1]]
    return [line[k] for k in sorted({0, len(line) - 1, *steps, *(k - 1 for k in steps)})]


def bill(search: Callable[..., Any]) -> Picture:
    """Prices relative to the best known: beams, and the student's own search."""
    rows = []
    for name, known in BEST_KNOWN.items():
        land, priced, asked = _counted(name)
        mine = land.price(tuple(search(land.successors, priced, 16)))
        row: list[str | float | int] = [name]
        for least, count in (on_record(name, 1), on_record(name, 2), (mine, len(asked))):
            row += [round(least / known, 2), count]
        rows.append(row)
    heads = [f"{words} ({what})" for words in ("greedy", "beam of width 2", "your search")
             for what in ("ratio", "priced")]  # fmt: skip
    return bill_of(rows, ["layer", *heads])


def path_table(record: Record) -> Picture:
    """The decisions that led to the best schedule, with the price after each, and its place among
    all candidates with as many decisions."""
    rows = []
    for candidate in reversed(record.path(record.best.number)):
        count = len(candidate.decisions)
        others = [c for c in record.candidates
                  if len(c.decisions) == count and c.predicted is not None]  # fmt: skip
        rank = 1 + sum((c.predicted or 0) < (candidate.predicted or 0) for c in others)
        last = shorten(str(candidate.decisions[-1]), 70)
        rows.append([count, last, exactly(clocks(candidate)), f"{rank} of {len(others)}"])
    heads = ["decisions", "last decision", "million clocks", "place in its round"]
    return table(rows, heads, exact=heads[2:])


# ── the tree of a search ──

WIDTH, LEFT, TOP, RISE = 720, 120, 76, 92
LEGEND = (
    "each dot is a schedule, the cheapest on the left; filled: went on; orange: path to the best"
)


def tree_picture(record: Record, title: str) -> Picture:
    """Every candidate as a dot: a row for each number of decisions, from the cheapest to the
    dearest; those that went on are filled, and lines lead to their successors."""
    kept = _led_on(record)
    rows: dict[int, list[Candidate]] = {}
    for c in record.candidates:
        if c.predicted is not None:
            rows.setdefault(len(c.decisions), []).append(c)
    places: dict[int, tuple[float, float]] = {}
    for depth, level in sorted(rows.items()):
        level.sort(key=lambda c: (c.predicted or 0, c.number))
        step = min(18.0, (WIDTH - LEFT - 20) / max(len(level), 1))
        for k, c in enumerate(level):
            places[c.number] = (LEFT + step * k, TOP + RISE * (depth - 1))
    parts, lines = [*_edges(record, places), *_dots(record, places, kept)], [title]
    for depth, level in sorted(rows.items()):
        y, name = TOP + RISE * (depth - 1), f"{depth} decision{'s' * (depth > 1)}"
        parts.append(label(MARGIN, y + 1, name, "cl-c"))
        parts.append(label(MARGIN, y + 16, f"{len(level)} priced", "cl-c cl-m"))
        lines.append(f"{name}: {len(level)} priced, the cheapest {million(clocks(level[0]))} "
                     f"million clocks, {sum(c.number in kept for c in level)} went "
                     "on")  # fmt: skip
    low = TOP + RISE * (max(rows) - 1) + 24
    return sketch(title, LEGEND, parts, WIDTH, low, "\n".join(lines))


def _led_on(record: Record) -> set[int]:
    """The candidates from which others came, whatever batches the search priced them in."""
    return {c.parent for c in record.candidates if c.parent is not None}


def _edges(record: Record, places: Mapping[int, tuple[float, float]]) -> list[str]:
    best = {c.number for c in record.path(record.best.number)}
    strong = {"stroke": "#D55E00", "stroke-width": 2.4, "stroke-opacity": 1}
    weak = {"stroke": "currentColor", "stroke-width": 0.6, "stroke-opacity": 0.35}
    edges = []
    for c in record.candidates:
        if c.number in places and c.parent is not None:
            (x, y), (u, v) = places[c.parent], places[c.number]
            ends = {"x1": round(x, 1), "y1": y + 5, "x2": round(u, 1), "y2": v - 5}
            edges.append(tag("line", **ends, **(strong if c.number in best else weak)))
    return edges


def _dots(record: Record, places: Mapping[int, tuple[float, float]], kept: set[int]) -> list[str]:
    best = record.best.number
    dots = []
    for number, (x, y) in places.items():
        tip = tag("title", f"{record.candidates[number].decisions[-1]}: "
                  f"{million(clocks(record.candidates[number]))} million clocks")  # fmt: skip
        fill = "#D55E00" if number == best else "#0072B2" if number in kept else "none"
        stroke = "currentColor" if fill == "none" else fill
        dots.append(tag("circle", tip, cx=round(x, 1), cy=y, r=4.5, fill=fill, stroke=stroke))
    return dots
