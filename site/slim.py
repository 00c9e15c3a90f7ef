"""A Sphinx extension: pages without what nobody sees, and with what a screen reader needs.

The theme loads 1.5 MB of icons and shows a dozen. Those are taken out of the theme's own file and
become a style sheet of about 10 kB; the script, its fonts and the maps for debuggers go. The side
bar becomes a landmark, and an empty head of a column no head. A page without a description gets
its first paragraph as one.
"""

from __future__ import annotations

import html
import re
import textwrap
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx

ICONS = {
    "arrow-up": "", "list": "", "magnifying-glass": "", "angle-left": "", "angle-right": "",
    "sun": "", "moon": "", "circle-half-stroke": "", "house": "home", "bars": "", "outdent": "",
    "chevron-down": "", "xmark": "", "download": "", "code": "", "pencil": "pencil-alt",
}  # fmt: skip
BASE = """\
.fa-solid, .fas { display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em;
  background-color: currentColor; -webkit-mask: var(--icon) center / contain no-repeat;
  mask: var(--icon) center / contain no-repeat; }
.fa-solid::before, .fas::before { content: none !important; }
/* What the theme says with letters of the font: that the contents open, and whose a link is. */
.bd-sidebar-secondary.hide:not(:hover) .onthispage::after { content: "\\25be" !important;
  font-family: inherit !important; }
a:is(.github, .gitlab)::before { content: none !important; }
"""
SCRIPT = re.compile(
    r"\s*(?:<!--[^>]*custom icons -->\s*)?<script[^>]*fontawesome\.js[^>]*></script>"
)
LEFT_OUT = (
    "_static/scripts/fontawesome.js*",
    "_static/**/*.map",
    "_static/vendor/fontawesome/**/*.woff2",
)

TO_ALL = (
    (r'id="pst-primary-sidebar"', r'\g<0> role="navigation" aria-label="Course"'),
    (r'<th class="(head[^"]*)"><p></p></th>', r'<td class="\1"></td>'),
    (r'<summary>(?=<span class="toctree-toggle")', '<summary aria-label="The pages below">'),
)


def icon_sheet(script: str) -> str:
    """The style sheet of the icons that pages show. KeyError for one that the theme lacks."""
    rules = [BASE]
    for name, other in ICONS.items():
        found = re.search(rf'"?\b{name}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"', script)
        if found is None:
            raise KeyError(f"the theme has no icon {name}")
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {found[1]} {found[2]}">'
        url = quote(f'{svg}<path d="{found[3]}"/></svg>', safe="/:=,.'() ")
        names = ", ".join(f".fa-{n}" for n in (name, other) if n)
        rules.append(f'{names} {{ --icon: url("data:image/svg+xml,{url}"); }}\n')
    return "".join(rules)


def slimmed(page: str) -> str:
    """The page without the script of the icons, and with the marks that the theme forgets."""
    page = SCRIPT.sub("", page)
    for old, new in TO_ALL:
        page = re.sub(old, new, page)
    return page


def slim(app: Sphinx, problem: Exception | None) -> None:
    """After the pages are written."""
    if problem is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    script = out / "_static" / "scripts" / "fontawesome.js"
    if script.exists():
        text = script.read_text(encoding="utf-8")
        (out / "_static" / "icons.css").write_text(icon_sheet(text), encoding="utf-8")
    for page in out.rglob("*.html"):
        page.write_text(slimmed(page.read_text(encoding="utf-8")), encoding="utf-8")
    for pattern in LEFT_OUT:
        for path in out.glob(pattern):
            path.unlink()


def describe(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """The first paragraph says to a search engine what the page is about."""
    tags = context.get("metatags", "")
    if tree is None or 'name="description"' in tags:
        return
    if first := next(tree.findall(nodes.paragraph), None):
        words = textwrap.shorten(first.astext(), 200, placeholder=" …")
        tag = f'<meta name="description" content="{html.escape(words)}" />'
        context["metatags"] = f"{tags}\n{tag}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", describe)
    app.connect("build-finished", slim)
    app.add_css_file("icons.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
