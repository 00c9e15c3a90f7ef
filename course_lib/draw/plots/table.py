"""Tables of numbers, and bars.

    table([["ours", 25, 46.2], ["onnxruntime", 25, 31.0]],
          ["compiler", "kernels", "traffic (MB)"], best={"traffic (MB)": "least"})
    bars([("relu", 6.4, 0.0), ("add", 9.6, 3.2)], unit="MB", title="Memory traffic")

Numbers stand on the right with at most three significant digits, units in the header, the best
value marked. Next room: `draw/base/callout.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeGuard

from course_lib.arguments import takes
from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.svg import OWN_KEYS, escape, tag
from course_lib.draw.base.units import digits
from course_lib.draw.plots.figure import COLOUR, Plot, chart, plain, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CSS = (
    ".cl-fig table.cl-table{border-collapse:collapse;margin:0}"
    ".cl-fig table.cl-table th,.cl-fig table.cl-table td{padding:.25em .9em .25em 0;"
    "border:0;text-align:left;background:none;color:inherit;vertical-align:middle}"
    ".cl-fig table.cl-table thead th{border-bottom:1px solid var(--cl-line);font-weight:600}"
    ".cl-fig table.cl-table tbody tr+tr>*{border-top:1px solid var(--cl-faint)}"
    ".cl-table tr{background:none!important}"
    ".cl-fig table.cl-table .cl-num{text-align:right;font-variant-numeric:tabular-nums}"
    ".cl-fig table.cl-table tbody th{font-weight:400}.cl-table .cl-best{font-weight:700}"
    ".cl-table caption{caption-side:top;text-align:left;color:inherit;padding:0 0 .4em;"
    "font-weight:600;font-size:14px}"
)

Cell = str | int | float | None


@takes
def table(
    rows: Sequence[Sequence[Cell]],
    headers: Sequence[str],
    title: str = "",
    best: Mapping[str, str] | None = None,
    exact: Collection[str] = (),
) -> Picture:
    """A table. `headers` name the unit; `best` says of a column whether "least" or "most" wins.
    Whole numbers in an `exact` column keep all of their digits."""
    for row in rows:
        if len(row) != len(headers):
            raise ValueError(f"a row has {len(row)} cells, the table {len(headers)} columns: {row}")
    winners = _winners(rows, headers, best or {})
    numeric = [
        header in exact
        or (any(_is_number(r[k]) for r in rows)
            and all(_is_number(r[k]) or r[k] is None for r in rows))
        for k, header in enumerate(headers)
    ]  # fmt: skip
    cells = _cells(rows, headers, exact)
    markup = _markup(cells, headers, title, numeric, winners)
    key = [tag("div", "▸ best of its column", klass="cl-muted")] if winners else []
    scroll = tag("div", markup, klass="cl-scroll", tabindex=0, **OWN_KEYS)
    html = fragment(scroll, *key, css=CSS)
    return Picture(title or "table", html, _plain(cells, headers, title, numeric, winners))


@takes
def bars(
    rows: Sequence[tuple[str, float] | tuple[str, float, float]], unit: str, title: str
) -> Plot:
    """A horizontal bar for each row: (name, value), or (name, before, after) in one unit."""
    values = [v for row in rows for v in row[1:]]
    if not values or min(values) < 0:
        raise ValueError(f"{title}: bars need values that are not negative, got {values}")
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"{title}: give every row two values, or every row one")
    pairs, most = len(rows[0]) == 3, max(values) or 1
    exactly = any(isinstance(v, float) for v in values)
    captions = [[digits(v, exactly) for v in row[1:]] for row in rows]
    changed = [[_change(*row[1:])] if pairs else [] for row in rows]
    headers = [f"before ({unit})", f"after ({unit})", "change"] if pairs else [unit]
    lines = [
        [row[0], *words, *change, "█" * round(20 * row[-1] / most)]
        for row, words, change in zip(rows, captions, changed, strict=True)
    ]
    numeric = [False, *[True] * len(headers), False]
    text = _plain(lines, ["", *headers, ""], title, numeric)
    summary = "outlined: before, filled: after" if pairs else ""
    plot = chart(title, unit, "", summary, text, height=110 + len(rows) * (40 if pairs else 28))
    if pairs:
        captions = [[w[0], f"{w[1]} ({c[0]})"] for w, c in zip(captions, changed, strict=True)]
    with sheet():
        _draw_bars(plot.axes, [row[1:] for row in rows], captions)
        plot.axes.set(xlim=(0, 1.2 * most), ylim=(len(rows) - 0.4, -0.6))
        plot.axes.set_yticks(range(len(rows)), [plain(row[0], 32) for row in rows])
        plot.axes.tick_params(axis="y", labelcolor=COLOUR["text"])
        plot.axes.grid(visible=False, axis="y")
    return plot


def _draw_bars(axes: Axes, values: Sequence[Sequence[float]], captions: list[list[str]]) -> None:
    """From top to bottom, each value at the end of its bar; the last of a row is filled."""
    count = len(values[0])
    for j in range(count):
        filled = j == count - 1
        at = [k + 0.4 * j - 0.2 * (count - 1) for k in range(len(values))]
        edge = COLOUR["focus" if filled else "line"]
        look = {"facecolor": edge if filled else "none", "edgecolor": edge, "linewidth": 1.2}
        container = axes.barh(at, [row[j] for row in values], 0.36 if count > 1 else 0.62, **look)
        axes.bar_label(container, [words[j] for words in captions], padding=5, fontsize=11)


def _change(before: float, after: float) -> str:
    if before == after:
        return "="
    if before == 0:
        return "new"
    change = 100 * (after / before - 1)
    return f"{'+' if change > 0 else '−'}{digits(abs(change))} %"


def _is_number(value: Cell) -> TypeGuard[int | float]:
    return isinstance(value, Real) and not isinstance(value, bool)  # numpy's, too


def _is_whole(value: Cell) -> TypeGuard[int]:
    return _is_number(value) and isinstance(value, Integral)


def _words(value: Cell, exactly: bool) -> str:
    if value is None:
        return "–"
    return digits(value, exactly) if _is_number(value) else str(value)


def _cells(
    rows: Sequence[Sequence[Cell]], headers: Sequence[str], exact: Collection[str]
) -> list[list[str]]:
    """What stands in each cell: a number as long as its column wants it."""
    measured = [
        any(_is_number(r[k]) and not _is_whole(r[k]) for r in rows) for k in range(len(headers))
    ]
    whole = [header in exact for header in headers]
    return [
        [f"{v:,}" if w and _is_whole(v) else _words(v, m)
         for v, m, w in zip(row, measured, whole, strict=True)]
        for row in rows
    ]  # fmt: skip


def _markup(
    cells: Sequence[Sequence[str]],
    headers: Sequence[str],
    title: str,
    numeric: Sequence[bool],
    winners: Collection[tuple[int, int]],
) -> str:
    """The table as HTML. Without numbers in it, the first column is a heading of its row; what says
    nothing is no heading."""
    head = [
        tag("th" if h else "td", escape(h), scope="col" if h else "", klass="cl-num" if num else "")
        for h, num in zip(headers, numeric, strict=True)
    ]
    body = []
    for r, row in enumerate(cells):
        columns = []
        for k, words in enumerate(row):
            mark = "▸ " if (r, k) in winners else ""
            klass = " ".join(["cl-num"] * numeric[k] + ["cl-best"] * ((r, k) in winners))
            name, scope = ("th", "row") if words and not k and not numeric[0] else ("td", None)
            columns.append(tag(name, mark + escape(words), klass=klass, scope=scope))
        body.append(tag("tr", *columns))
    caption = [tag("caption", escape(title))] if title else []
    sections = tag("thead", tag("tr", *head)), tag("tbody", *body)
    return tag("table", *caption, *sections, klass="cl-table")


def _winners(
    rows: Sequence[Sequence[Cell]], headers: Sequence[str], best: Mapping[str, str]
) -> set[tuple[int, int]]:
    winners = set()
    for header, way in best.items():
        if header not in headers or way not in ("least", "most"):
            raise ValueError(f'best maps a header to "least" or "most", got {header!r}: {way!r}')
        k = list(headers).index(header)
        numbers = [row[k] for row in rows if _is_number(row[k])]
        if len(numbers) > 1:
            wanted = min(numbers) if way == "least" else max(numbers)  # type: ignore[type-var]
            winners |= {(r, k) for r, row in enumerate(rows) if row[k] == wanted}
    return winners


def _plain(
    rows: Sequence[Sequence[str]],
    headers: Sequence[str],
    title: str,
    numeric: Sequence[bool],
    winners: Collection[tuple[int, int]] = (),
) -> str:
    cells = [list(headers)]
    for r, row in enumerate(rows):
        cells.append([("▸ " if (r, k) in winners else "") + v for k, v in enumerate(row)])
    widths = [max(len(row[k]) for row in cells) for k in range(len(headers))]
    lines = [title] if title else []
    for row in cells:
        parts = [
            c.rjust(w) if num else c.ljust(w)
            for c, w, num in zip(row, widths, numeric, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)
