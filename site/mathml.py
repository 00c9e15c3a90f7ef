"""A Sphinx extension: formulas as MathML, at build time.

    $a + b$   ->   <math display="inline">...</math>

Browsers draw MathML themselves and screen readers read it, so that no script has to be shipped.
"""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(self, node: nodes.Element) -> None:
    self.body.append(f'<span class="math">{convert(node.astext())}</span>')
    raise nodes.SkipNode


def display(self, node: nodes.Element) -> None:
    formula = convert(node.astext(), display="block")
    self.body.append(f'<div class="math" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
