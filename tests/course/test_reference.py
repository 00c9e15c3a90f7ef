"""The pages to look things up in: what is on them is complete, and comes from one source each."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.edition.sources import sources
from course_lib.exercises import MODULES
from course_lib.frontend.onnx.rules.elementwise import BINARY, UNARY
from course_lib.frontend.torch.rules.elementwise import MATH
from course_lib.ir.registry import OPS

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "site"))  # its files are plain modules beside build.py

from reference import api, bibliography, glossary, op_pages, pass_pages  # noqa: E402
from reference.importers import importers  # noqa: E402
from reference.meaning import source_of  # noqa: E402
from reference.prose import FENCE, markdown  # noqa: E402

UNITS = sources(ROOT / "notebooks")
GLOSSARY = ROOT / "site" / "glossary.md"


def words(text: str) -> str:
    return " ".join(re.sub(r"[*`]", "", text).split()).lower()


def test_each_term_stands_in_the_text_of_the_unit_that_introduces_it():
    text = {unit.key: words(unit.path.read_text(encoding="utf-8")) for unit in UNITS}
    lost = [
        term.name
        for term in glossary.terms(GLOSSARY)
        if not any(form.lower() in text[term.unit] for form in term.forms)
    ]
    assert not lost
    page = glossary.page(GLOSSARY, glossary.terms(GLOSSARY), UNITS)
    assert "<!--" not in page and page.count("{doc}`u") == len(glossary.terms(GLOSSARY))


@pytest.mark.parametrize(
    "entry, said",
    [
        ("race, races (u11)\n: Two.\n\nraces (u12)\n: Three.", "defines twice: races"),
        ("race, races\n: Two.", "no entry of the glossary"),
    ],
)
def test_the_glossary_refuses_what_it_would_lose(tmp_path, entry, said):
    file = tmp_path / "glossary.md"
    file.write_text(f"# Glossary\n\n{entry}\n")
    with pytest.raises(ValueError, match=said):
        glossary.terms(file)


def test_every_title_under_where_to_read_on_is_in_the_bibliography():
    works = bibliography.works(UNITS)
    page = words(bibliography.page(works))
    for unit in UNITS:
        text = unit.path.read_text(encoding="utf-8")
        assert bibliography.reading(text), f"{unit.name} names nothing to read"
        for item in bibliography.reading(text):
            if not item.startswith("`"):
                for title in re.findall(r"(?<!\w)\*([A-Z][^*]{12,})\*", item):
                    assert words(title) in page, f"{unit.name}: {title}"
                assert f"{unit.name}.ipynb#where-to-read-on" in page


def test_a_work_stands_once_with_its_longest_title_and_all_who_name_it():
    works = {work.anchor: work for work in bibliography.works(UNITS)}
    assert len(works) == len(bibliography.works(UNITS))
    halide = works["work-ragan-kelley-halide"]
    assert [unit.key for unit, _ in halide.said] == ["u07", "u08", "u17"]
    assert "Amarasinghe" in halide.reference and "PLDI 2013" in halide.reference
    both = [works[a].said[0][1] for a in works if re.match("work-(poletto|wimmer)", a)]
    assert len(both) == 2 and both[0] == both[1] != ""  # two works, one sentence about both
    assert "SR2" not in works["work-joslin-squeaky-wheel-optimization"].said[0][1]


def test_every_op_has_a_page_with_its_meaning_an_example_and_loops():
    pages = op_pages.pages()
    assert {f"ops/{name}" for name in OPS} | {"ops"} == set(pages)
    for name, row in OPS.items():
        page = pages[f"ops/{name}"]
        assert page.split(f"{FENCE}text\n")[1].splitlines()[0][-1] in ")}", "more than a signature"
        assert "## Its meaning" in page or name in ("input", "constant"), name
        _, spelled, text = page.partition("`decompose` spells it out.")
        assert not spelled or f"= {name}(" not in text.partition("## ")[0], name
        assert all(f"| `{attr}` |" in page for attr in row.attrs), name
        if row.loops and name != "reshape":
            assert re.search(r"^ *(for .*|out\[.*)", page, re.MULTILINE), name
        assert f"(ops/{name}.md)" in pages["ops"]
    product = pages["ops/matmul"].split("## An example")[1]
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)
    for number in (a @ b).ravel():
        assert f"{number:g}." in product
    assert "Element types of its first operand: `f16`, `f32`, `f64`.\n" in pages["ops/exp"]
    assert "| LLVM | `fadd` | `add` | `add` | `or` |" in pages["ops/add"]


def test_what_comes_in_as_an_op_is_what_the_importers_tables_say():
    found = importers()
    for table, source in ((UNARY, "ONNX"), (BINARY, "ONNX"), (MATH, "ATen")):
        for theirs, ours in table.items():
            same, among = found[ours][source]
            assert theirs in [*same, *among], theirs  # `silu` may cast an integer before
    assert found["relu"]["ONNX"][0] == ["Relu"]
    assert "ReduceL2" in found["sqrt"]["ONNX"][1] and "ReduceL2" in found["mul"]["ONNX"][1]
    assert "Relu" not in [*found["sqrt"]["ONNX"][0], *found["sqrt"]["ONNX"][1]]


def test_every_pass_of_the_pipeline_has_a_page():
    from course_lib.passes.pipeline import WINOGRAD

    pages = pass_pages.pages()
    assert {f"passes/{one.__name__}" for one in WINOGRAD} <= set(pages)
    assert "It runs 3 times" in pages["passes/dce"]
    assert "Dead-code elimination: remove what no output needs." in pages["passes"]
    assert "(*groups*)" in pages["passes/fuse"] and "The default pipeline" in pages["passes/widen"]


def test_the_library_lists_what_is_public_and_an_exercise_leads_to_its_function():
    rooms = api.rooms()
    known, pages = api.names(rooms), api.pages(rooms)
    assert not set(MODULES) - set(known)
    assert known["course_lib/passes/clean/dce.py"] == "course_lib.passes.clean.dce"
    clean = pages["api/passes.clean"]
    assert "{py:function} dce(graph: course_lib.ir.graph.graph.Graph)" in clean
    assert not re.search(r"\{py:\w+\} _", "".join(pages.values()))
    unit = next(unit for unit in UNITS if unit.key == "u02")
    meant = api.imported(unit.path, rooms)
    assert meant["draw"] == "course_lib.draw.graphs.graph.graph"  # `import graph as draw`


def test_docstrings_become_markdown_that_says_the_same():
    text = markdown("""Sizes |x| of *all* `a_b` in a[i].

    kind     a key of `KINDS`
    least    the smallest,
             or none

        %0 = relu(%x)
        %1 = f(%0)

    >>> f(1)
    2
    """)
    assert "Sizes \\|x\\| of *all* `a_b` in a\\[i\\]." in text
    assert "- `kind`: a key of `KINDS`\n- `least`: the smallest,\n  or none" in text
    assert "%0 = relu(%x)\n%1 = f(%0)" in text and ">>> f(1)\n2" in text


def test_the_source_of_a_meaning_is_that_function_alone():
    assert source_of(np.add) == "np.add"
    assert source_of(OPS["select"].evaluate) == "lambda arrays, attrs: np.where(*arrays)"
