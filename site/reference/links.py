"""A Sphinx extension: from the text of a unit to the pages where one looks things up.

    a race between engines   ->   a [race] between engines, and its definition in the margin
    `dce`, `passes.dce`      ->   the page of the pass; a function's place in the library
    *Halide*, PLDI 2013      ->   the work in the bibliography

A term is marked where it first stands on a page, code where it first stands in a section. A bare
name is linked if this unit imports it from the library, or if it is an op or a pass. What all of
these are stands in reference.json, which `reference/__init__.py` has written.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

QUIET = (nodes.reference, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.raw,
         nodes.block_quote, nodes.table)  # fmt: skip
CALL = re.compile(r"([A-Za-z_][\w./]*)(\(.*\))?", re.DOTALL)


class Term(nodes.Inline, nodes.Element):
    """A word with its definition, which the search does not take for words of the page."""


def only_ours(app: Sphinx, doctree: nodes.document) -> None:
    """In signatures, Sphinx would look for any type that ends like the word: `Value` of one file
    is none of another's. Only what has its full name is a link."""
    ours = known(app.srcdir)["code"]
    for signature in doctree.findall(addnodes.desc_signature):
        for node in list(signature.findall(addnodes.pending_xref)):
            target = node["reftarget"]
            if target not in ours:
                short = target.rsplit(".", 1)[-1] if target.startswith("course_lib.") else target
                node.replace_self(nodes.Text(short))


@cache
def known(folder: Path) -> dict[str, Any]:
    return json.loads((Path(folder) / "reference.json").read_text(encoding="utf-8"))


def lead(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Mark the terms of a unit, and link its code and the works that it names."""
    facts = known(app.srcdir)
    if docname not in facts["imported"]:
        return
    names = {**facts["code"], **facts["imported"][docname]}
    for section in doctree.findall(nodes.section):
        _link_code(app, docname, section, names)
    for node in list(doctree.findall(nodes.emphasis)):
        if anchor := facts["works"].get(" ".join(node.astext().split())):
            uri = app.builder.get_relative_uri(docname, "bibliography")
            _wrap(node, f"{uri}#{anchor}", "work")
    _mark_terms(app, docname, doctree, facts["terms"])


def _link_code(app: Sphinx, docname: str, section: nodes.section, names: dict[str, str]) -> None:
    """In one section, without those inside it; each name once."""
    done: set[str] = set()
    for node in list(section.findall(nodes.literal)):
        match = CALL.fullmatch(node.astext())
        if not match or match[1] in done or _section_of(node) is not section:
            continue
        if _inside(node, nodes.reference, nodes.title) or match[1] not in names:
            continue
        if uri := _address(app, docname, names[match[1]]):
            done.add(match[1])
            _wrap(node, uri, "looked-up")


def _address(app: Sphinx, docname: str, target: str) -> str | None:
    """Of a page of ours (/ops/relu) or of an object that Sphinx knows by its full name."""
    if target.startswith("/"):
        return app.builder.get_relative_uri(docname, target[1:])
    entry = app.env.domains.python_domain.objects.get(target)
    return entry and f"{app.builder.get_relative_uri(docname, entry.docname)}#{entry.node_id}"


def _section_of(node: nodes.Node) -> nodes.Node | None:
    return next(_up(node, nodes.section), None)


def _inside(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    return any(True for _ in _up(node, *kinds))


def _up(node: nodes.Node, *kinds: type[nodes.Node]) -> Iterator[nodes.Node]:
    outer = node.parent
    while outer is not None:
        if isinstance(outer, kinds):
            yield outer
        outer = outer.parent


def _wrap(node: nodes.Element, uri: str, kind: str) -> None:
    link = nodes.reference("", "", internal=True, refuri=uri, classes=[kind])
    node.replace_self(link)
    link += node


def _mark_terms(app: Sphinx, docname: str, doctree: nodes.document, terms: list[Any]) -> None:
    """The first occurrence of each term in a paragraph of the page."""
    left = {form.lower(): (name, text) for name, forms, text in terms for form in forms}
    forms = sorted(left, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, forms))})(?![\w-])", re.IGNORECASE)
    page = app.builder.get_relative_uri(docname, "glossary")
    objects = app.env.domains.standard_domain.objects
    done: set[str] = set()
    for node in list(doctree.findall(nodes.Text)):
        if not _inside(node, nodes.paragraph) or _inside(node, *QUIET):
            continue
        pieces, start, text = [], 0, node.astext()
        for match in pattern.finditer(text):
            name, meaning = left[match[1].lower()]
            if name in done:
                continue
            done.add(name)
            pieces += [nodes.Text(text[start : match.start()])]
            anchor = objects["term", name][1]
            said = {"name": name, "meaning": meaning, "anchor": anchor, "page": page}
            pieces += [Term("", nodes.Text(match[1]), **said)]
            start = match.end()
        if pieces:
            node.parent.replace(node, [*pieces, nodes.Text(text[start:])])


def visit_term(self: Any, node: Term) -> None:
    """The word can be focused, and says by which note it is described."""
    note = f"note-{node['anchor']}"
    self.body.append(f'<span class="term" tabindex="0" aria-describedby="{note}">')


def depart_term(self: Any, node: Term) -> None:
    name, anchor = html.escape(node["name"]), node["anchor"]
    meaning = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(node["meaning"]))
    self.body.append(
        f'</span><span class="marginnote note" role="note" id="note-{anchor}">'
        f'<a href="{node["page"]}#{anchor}">{name}</a> {meaning}</span>'
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(Term, html=(visit_term, depart_term))
    app.connect("doctree-read", only_ours)
    app.connect("doctree-resolved", lead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
