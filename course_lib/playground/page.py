"""The widget: what it shows, as JSON, and the markup around it, for a website and for a notebook.

    data = shown(PROGRAMS, FIVE)          the states of all programs: one JSON text below 2 MB
    document(data, "swish")                a whole HTML page that needs nothing else

`widget.js` and `widget.css` are used as they are. Nothing is fetched. Next room: `playground.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.draw.base.style import BASE, SVG
from course_lib.draw.base.svg import escape, tag
from course_lib.passes.infra.contract import pass_name
from course_lib.passes.infra.manager import Pass
from course_lib.playground.explore import orders
from course_lib.playground.programs import Program
from course_lib.playground.states import states
from course_lib.playground.table import DIGITS, SMALL, Table

HERE = Path(__file__).resolve().parent
PROCESSOR, GPU = "Intel's Haswell (x86-64 with AVX2)", "NVIDIA's sm_80"
# In a notebook, inside a frame: dark where JupyterLab is, which says so on an element outside of
# it, also when that changes; and the frame as high as the page, so that only the notebook scrolls.
_FRAME = """try{
const frame=window.frameElement,root=document.documentElement;
if(frame){
const outside=frame.ownerDocument.body,look=()=>{
const light=outside.dataset.jpThemeLight;
if(light)root.dataset.theme=light==="false"?"dark":"light"};
look();
new MutationObserver(look)
.observe(outside,{attributes:true,attributeFilter:["data-jp-theme-light"]});
new ResizeObserver(()=>{frame.style.height=`${Math.ceil(document.body.offsetHeight)+16}px`})
.observe(document.body)}
}catch{}"""


def shown(programs: Mapping[str, Program], passes: Sequence[Pass]) -> dict[str, Any]:
    """The states of all programs under all orders of the passes, as `widget.js` takes them."""
    table = Table()
    found = [states(p.graph, passes, table, p.about) for p in programs.values()]
    return {
        "passes": [pass_name(one) for one in passes],
        "orders": ["".join(map(str, order)) for order in orders(len(passes))],
        "programs": found,
        "processor": PROCESSOR,
        "gpu": GPU,
        "table": {**table.packed(), "digits": DIGITS, "small": SMALL},
    }


def as_json(data: Mapping[str, Any]) -> str:
    """The data as a literal of JavaScript that may stand in a script of an HTML page."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def script() -> str:
    return (HERE / "widget.js").read_text(encoding="utf-8")


def style() -> str:
    return BASE + SVG + (HERE / "widget.css").read_text(encoding="utf-8")


def overview(data: Mapping[str, Any]) -> str:
    """What one sees without JavaScript: each program before and after all passes, in numbers."""
    last = data["orders"].index("".join(map(str, range(len(data["passes"])))))
    heads = ["program", "nodes", "after all passes", "kernels", "after all passes",
             "bytes", "after all passes"]  # fmt: skip
    rows = []
    for program in data["programs"]:
        first, best = program["forms"][0], program["forms"][program["ends"][last]]
        cells = [str(form.get(key, "failed")) if "wrong" in form else f"{form[key]:,}"
                 for key in ("nodes", "kernels", "bytes") for form in (first, best)]  # fmt: skip
        rows.append([tag("th", escape(program["name"]), scope="row"),
                     *(tag("td", escape(cell)) for cell in cells)])  # fmt: skip
    head = tag("tr", *(tag("th", escape(h), scope="col") for h in heads))
    body = [tag("tr", *row) for row in rows]
    caption = f"Before, and after {', '.join(data['passes'])}; the playground needs JavaScript."
    table = tag("table", tag("caption", escape(caption)), tag("thead", head), tag("tbody", *body))
    return tag("div", table, klass="pg-scroll")


def mount(data: Mapping[str, Any]) -> str:
    """The element that `widget.js` fills."""
    inside = tag("noscript", overview(data))
    return tag("div", inside, id="playground", klass="cl pg")


def document(data: Mapping[str, Any], title: str) -> str:
    """A whole page with the widget, its style, its script and its states."""
    call = f"playground(document.getElementById('playground'),{as_json(data)},false);"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width"/>'
        '<meta name="color-scheme" content="light dark"/>'
        f"<title>{escape(title)}</title><style>{style()}body{{margin:.3rem}}</style></head>"
        '<body class="cl" style="color:var(--cl-text);background:var(--cl-page)">'
        f"{mount(data)}<script>{_FRAME}\n{script()}\n{call}</script></body></html>"
    )
