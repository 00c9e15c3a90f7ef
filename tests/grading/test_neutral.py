"""Nothing that a student writes runs in the teacher's browser, and what is harmless stays."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter

from autograder.grading.neutral import neutral

RUN = "window.ran.push('{name}')"
# How script gets into a page made of Markdown; {run} is what it would run.
SHAPES = {
    "script": "<script>{run}</script>",
    "script_in_capitals": "<ScRiPt>{run}</ScRiPt>",
    "script_over_two_lines": "<script\n>{run}</script\n>",
    "image_that_fails": "<img src=x onerror=\"{run}\">",
    "image_with_a_slash": "<img/src=x/onerror=\"{run}\">",
    "image_without_an_end": "text <img src=x onerror=\"{run}\" ",
    "svg": "<svg onload=\"{run}\"></svg>",
    "svg_script": "<svg><script>{run}</script></svg>",
    "math_in_svg": "<math><mtext><svg><img src=x onerror=\"{run}\"></svg></mtext></math>",
    "body": "<body onload=\"{run}\">",
    "details": "<details open ontoggle=\"{run}\">x</details>",
    "input_with_focus": "<input autofocus onfocus=\"{run}\">",
    "video": "<video><source onerror=\"{run}\"></video>",
    "audio": "<audio src=x onerror=\"{run}\"></audio>",
    "marquee": "<marquee onstart=\"{run}\">x</marquee>",
    "style_animation": "<style>@keyframes a{{}}</style><b style='animation:a' "
    "onanimationstart=\"{run}\">x</b>",
    "iframe": "<iframe srcdoc=\"<script>parent.{run}</script>\"></iframe>",
    "iframe_javascript": "<iframe src=\"javascript:parent.{run}\"></iframe>",
    "object": "<object data=\"javascript:{run}\"></object>",
    "embed": "<embed src=\"javascript:{run}\">",
    "meta_refresh": "<meta http-equiv=refresh content=\"0;url=javascript:{run}\">",
    "base": "<base href=\"javascript:{run}//\">",
    "form": "<form action=\"javascript:{run}\"><button id=go>go</button></form>",
    "comment_that_ends": "<!-- x --!><img src=x onerror=\"{run}\"> -->",
    "cdata": "<![CDATA[ <img src=x onerror=\"{run}\"> ]]>",
    "declaration": "<!x <img src=x onerror=\"{run}\">",
    "processing": "<?x ?><img src=x onerror=\"{run}\">",
    "link": "[go](javascript:{run})",
    "link_in_brackets": "[go](<javascript:{run}>)",
    "link_with_a_space": "[go](< javascript:{run}>)",
    "link_in_capitals": "[go](JaVaScRiPt:{run})",
    "link_with_an_entity": "[go](java&#115;cript:{run})",
    "link_with_named_entities": "[go](javascript&colon;{run})",
    "link_with_a_tab": "[go](java\tscript:{run})",
    "link_with_a_backslash": "[go](\\javascript:{run})",
    "link_vbscript": "[go](vbscript:{run})",
    "link_data": "[go](data:text/html,<script>{run}</script>)",
    "link_title": "[go](https://example.com 'x\" onmouseover=\"{run}')",
    "reference": "[go][r]\n\n[r]: javascript:{run}",
    "reference_on_two_lines": "[go][s]\n\n[s]:\n  javascript:{run}",
    "reference_in_a_quote": "[go][t]\n\n> [t]: <javascript:{run}>",
    "autolink": "<javascript:{run}>",
    "url_with_a_quote": "https://example.com/\"onmouseover=\"{run}",
    "image": "![x](javascript:{run})",
    "image_alt": "![x\" onerror=\"{run}](data:image/png;base64,AAAA)",
    "image_title": "![x](data:image/png;base64,AAAA \"x\\\" onerror=\\\"{run}\")",
    "image_svg": "![x](data:image/svg+xml,<svg onload=\"{run}\"/>)",
    "image_attachment": "![x](attachment:nothing.png)",
    "image_fetched": "![x](http://127.0.0.1:9/{name})",
    "heading": "# x <img src=x onerror=\"{run}\">",
    "heading_entity": "# &lt;img src=x onerror=\"{run}\"&gt;",
    "table": "| a |\n|---|\n| <img src=x onerror=\"{run}\"> |",
    "code": "`<img src=x onerror=\"{run}\">`",
    "fence": "```python\n</pre><img src=x onerror=\"{run}\">\n```",
    "fence_language": "```\"><img/src=x/onerror={run}>\nx\n```",
    "mermaid": "```mermaid\n<img src=x onerror=\"{run}\">\n```",
    "mermaid_entity": "~~~&#109;ermaid\n<img src=x onerror=\"{run}\">\n~~~",
    "mermaid_in_a_list": "- ~~~ Mermaid\n  <img src=x onerror=\"{run}\">\n  ~~~",
    "math": "$<img src=x onerror=\"{run}\">$",
    "math_environment": "\\begin{{x}}<img src=x onerror=\"{run}\">\\end{{x}}",
    "math_link": "$\\href{{javascript:{run}}}{{go}}$",
    "kept_picture_behind_a_bracket": "<![x](data:image/png;base64,AAAA)img src=x onerror={run}>",
    "zero_byte": "<\0img src=x onerror=\"{run}\">",
    "entities": "&lt;img src=x onerror=\"{run}\"&gt;",
}  # fmt: skip

FINE = [
    r"A formula $a < b$, $\frac{1}{2} \le \alpha_1$ and $$\sum_{i=0}^n x_i^2$$",
    "*Emphasis*, `code`, [a page](https://example.com/a?b=1&c=2), <b without an end",
    "![plot](data:image/png;base64,iVBORw0KGgo=)",
    "1. a list\n2. `x < y`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```python\nif a < b: print(x[0])\n```",
]


def page_of(cells: list[str]) -> str:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(c) for c in cells])
    return HTMLExporter().from_notebook_node(notebook)[0]


CLICK = """
document.addEventListener("click", event => {  // a page of the web would take this one's place
  const link = event.target.closest("a");
  if (link && /^https?:/.test(link.href)) event.preventDefault();
}, true);
document.querySelectorAll("a, button, summary").forEach(element => element.click());
"""


def opened(browser, cells: list[str], folder: Path):
    """The page that nbconvert makes of Markdown cells, loaded, and everything in it clicked."""
    path = folder / "page.html"
    path.write_text(page_of(cells), encoding="utf-8")
    page = browser.new_page()
    page.fetched = []
    page.on("request", lambda request: page.fetched.append(request.url))
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.add_init_script("window.ran = []")
    page.goto(path.as_uri(), wait_until="load", timeout=120_000)
    page.evaluate(CLICK)
    page.wait_for_timeout(300)
    return page


def test_nothing_runs_in_a_browser(browser, tmp_path):
    cells = [neutral(s.format(run=RUN.format(name=n), name=n)) for n, s in SHAPES.items()]
    page = opened(browser, cells, tmp_path)
    assert page.evaluate("window.ran") == []
    assert page.locator("body img:not([src^='data:'])").count() == 0
    assert not [url for url in page.fetched if "127.0.0.1" in url]
    assert page.locator("a[href^='javascript' i]").count() == 0
    assert page.locator(".jp-Mermaid").count() == 0


def test_without_it_script_runs(browser, tmp_path):
    """The test above can fail: nbconvert lets these through."""
    names = ["script", "image_that_fails", "link", "mermaid", "reference"]
    cells = [SHAPES[name].format(run=RUN.format(name=name), name=name) for name in names]
    assert set(opened(browser, cells, tmp_path).evaluate("window.ran")) == set(names)


@pytest.mark.parametrize("name", SHAPES)
def test_the_shapes_are_ones(name):
    """Twice is once, and what could begin a tag is gone."""
    text = neutral(SHAPES[name].format(run="1", name=name))
    assert neutral(text) == text
    assert not re.search(r"<[A-Za-z/!?]", text)


@pytest.mark.parametrize("text", FINE)
def test_what_is_harmless_stays(text):
    assert neutral(text).replace("< b without", "<b without") == text
