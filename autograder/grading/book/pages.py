"""The pieces of a teacher's page: one file, no script, light and dark, figures as words too.

    page("Statistics", [text("u02", "h2"), table(["exercise", "passed"], rows)], STATISTICS)

Next room: dashboard.py, statistics.py and originality.py, three such pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

# Okabe and Ito's colours, which most colour-blind people tell apart; each has a pattern as well.
COLOURS = {
    "passed": "#009e73",
    "not yet right": "#d55e00",
    "raised an error": "#cc79a7",
    "timed out": "#e69f00",
    "not attempted": "#8c8c8c",
    "by hand": "#56b4e9",
    "cannot be graded": "#404040",
    "grader failed": "#0072b2",
}
TERM, STATISTICS, ORIGINALITY = "term.html", "statistics.html", "originality.html"
PAGES = {TERM: "Over the term", STATISTICS: "In figures", ORIGINALITY: "Resemblances"}
STYLE = """
:root{color-scheme:light dark;--line:color-mix(in srgb,CanvasText 18%,Canvas);
 --soft:color-mix(in srgb,CanvasText 5%,Canvas);--quiet:color-mix(in srgb,CanvasText 68%,Canvas)}
*{box-sizing:border-box}
body{font:16px/1.55 system-ui,sans-serif;margin:0;background:Canvas;color:CanvasText;
 overflow-wrap:break-word}
main{max-width:70rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.4rem;margin:3rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1.08rem;margin:2rem 0 .4rem}
h4{font-size:.95rem;margin:.6rem 0 .2rem}
p{max-width:46rem}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:0 0 1rem;font-size:.94rem}
nav [aria-current]{text-decoration:none;font-weight:600}
.quiet{color:var(--quiet)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.94rem}
caption{text-align:left;color:var(--quiet);padding:0 0 .4rem}
th{font-weight:600;text-align:left;vertical-align:bottom;border-bottom:2px solid var(--line)}
td{border-bottom:1px solid var(--line);vertical-align:top}
th,td{padding:.35rem .7rem .35rem 0}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.bar{width:34%;min-width:11rem;padding-top:.72rem}
svg{display:block;max-width:100%}
svg text{fill:CanvasText;font:12px system-ui,sans-serif}
code,pre{font:.86rem/1.45 ui-monospace,SFMono-Regular,Menlo,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;
 overflow-x:auto;margin:.3rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
mark{background:color-mix(in srgb,#e69f00 30%,Canvas);color:CanvasText}
td bdi{overflow-wrap:anywhere}
td.who{min-width:8rem;max-width:16rem}
.who{position:sticky;left:0;background:Canvas}
.tint{display:inline-block;min-width:2.4em;padding:0 .3em;border-radius:4px;color:CanvasText}
.cards{display:flex;flex-wrap:wrap;gap:.8rem;margin:1rem 0 1.4rem;padding:0;list-style:none}
.cards li{border:1px solid var(--line);border-radius:8px;padding:.55rem 1rem .6rem;min-width:8.5rem}
.cards strong{display:block;font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.4rem 0 1rem;list-style:none;
 font-size:.9rem}
.legend span{display:inline-block;width:.85em;height:.85em;border-radius:2px;margin-right:.4em}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}
.pair>div{min-width:0}
@media (max-width:46rem){.pair{grid-template-columns:minmax(0,1fr)}
 main{padding:1.2rem 1rem 3rem}
 h2,h3{overflow-wrap:anywhere}
 th,td{padding-right:.5rem}
 td.bar{min-width:5.5rem;width:28%}
 .told .bar{display:none}
 td.who{min-width:6.5rem;max-width:9rem}}
details{margin:.5rem 0;border:1px solid var(--line);border-radius:8px;padding:.4rem .9rem}
summary{cursor:pointer;padding:.15rem 0}
a{color:inherit}
:focus-visible{outline:3px solid #0072b2;outline-offset:2px}
@media print{details{break-inside:avoid}}
"""


def page(title: str, parts: Iterable[str], here: str) -> str:
    """A whole HTML page, with links to the others; `here` is which one of `PAGES` it is."""
    marks = {here: ' aria-current="page"'}
    links = "".join(f'<a href="{n}"{marks.get(n, "")}>{words}</a>' for n, words in PAGES.items())
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>"
        f'<body><main>\n<nav aria-label="The teacher\'s pages">{links}</nav>\n'
        f"{chr(10).join(parts)}\n</main></body></html>\n"
    )


def text(words: str, tag: str = "p", kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f"<{tag}{mark}>{html.escape(words)}</{tag}>"


def code(words: str) -> str:
    """A name in a program. Where there is little room, a line may end behind a dot or an underline
    in it."""
    breaking = re.sub(r"([._])(?=.)", r"\1<wbr>", html.escape(words))
    return f"<code>{breaking}</code>"


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str,
    numbers: str,
    kind: str = "",
) -> str:
    """A table. Cells are HTML; `numbers` has a letter for each column: n right, t left, b bar,
    w somebody's name, however long. In a table of kind "told", a column says in words what its bar
    shows: where there is little room the bar goes."""
    kinds = {"n": ' class="number"', "w": ' class="who"', "t": "", "b": ' class="bar"'}
    marks = [kinds[letter] for letter in numbers]
    top = "".join(
        f'<th scope="col"{m}>{html.escape(h)}</th>' for h, m in zip(head, marks, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(f"<td{m}>{c}</td>" for c, m in zip(row, marks, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide {kind}" role="group" tabindex="0" aria-label="{html.escape(caption)}">'
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{top}</tr>"
        f"</thead><tbody>\n{body}\n</tbody></table></div>"
    )


def cards(pairs: Iterable[tuple[str, str]]) -> str:
    """Figures that one sees first: (value, what it is)."""
    items = "".join(
        f"<li><strong>{html.escape(value)}</strong>{html.escape(what)}</li>"
        for value, what in pairs
    )
    return f'<ul class="cards">{items}</ul>'


def legend(names: Iterable[str]) -> str:
    items = "".join(
        f'<li><span style="background:{COLOURS[name]}"></span>{html.escape(name)}</li>'
        for name in names
    )
    return f'<ul class="legend" aria-hidden="true">{items}</ul>'


def stacked(counts: dict[str, int]) -> str:
    """A bar of parts, as wide as its cell. The label says the same in words."""
    total = sum(counts.values())
    label = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
    parts, x = [], 0.0
    for name, count in counts.items():
        if count:
            width = 100 * count / total
            gap = 0.5 if x else 0.0
            parts.append(
                f'<rect x="{x + gap:.2f}" y="0" width="{max(width - gap, 0.3):.2f}" height="16" '
                f'fill="{COLOURS[name]}"><title>{count} {name}</title></rect>'
            )
            x += width
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" viewBox="0 0 100 16" '
        f'preserveAspectRatio="none" width="100%" height="16">{"".join(parts)}</svg>'
    )


def share_bar(share: float, colour: str, label: str) -> str:
    """One bar from 0 to 1."""
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" viewBox="0 0 100 12" '
        f'preserveAspectRatio="none" width="100%" height="12">'
        f'<rect width="100" height="12" fill="CanvasText" fill-opacity=".08"/>'
        f'<rect width="{100 * share:.2f}" height="12" fill="{colour}"/></svg>'
    )


def histogram(values: Sequence[float], most: float, what: str) -> str:
    """How many have how many points, in at most twelve columns. More than `most`, by a bonus, is
    counted in the last one."""
    count = max(1, min(12, int(most)))
    bins = [0] * count
    for value in values:
        bins[min(count - 1, int(value / most * count)) if most else 0] += 1
    highest, width, height = max([*bins, 1]), 46, 120
    parts = []
    for n, value in enumerate(bins):
        tall = height * value / highest
        x, y = n * width + 4, height + 16 - tall
        low, high = most * n / count, most * (n + 1) / count
        last = " or more" if n == count - 1 else " (not included)"
        parts.append(
            f'<rect x="{x}" y="{y:.1f}" width="{width - 8}" height="{tall:.1f}" rx="2" '
            f'fill="#0072b2"><title>{value} with {low:g} to {high:g}{last} points</title></rect>'
            f'<text x="{x + width / 2 - 4}" y="{y - 4:.1f}" text-anchor="middle">'
            f"{value or ''}</text>"
            f'<text x="{n * width}" y="{height + 32}" text-anchor="middle">{low:.3g}</text>'
        )
    parts.append(
        f'<text x="{count * width}" y="{height + 32}" text-anchor="end">{most:g}</text>'
        f'<line x1="0" x2="{count * width}" y1="{height + 16}" y2="{height + 16}" '
        'stroke="CanvasText" stroke-opacity=".4"/>'
    )
    description = ", ".join(f"{n} from {most * i / count:.3g}" for i, n in enumerate(bins) if n)
    return (
        f'<svg role="img" aria-label="{html.escape(f"{what}: {description}")}" '
        f'viewBox="-12 0 {count * width + 24} {height + 40}" width="{count * width + 24}">'
        f"{''.join(parts)}</svg>"
    )
