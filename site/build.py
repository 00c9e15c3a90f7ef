"""The website: `make site` writes it to build/site.

The pages are the students' notebooks. An exercise shows its stub and, folded, its hints. Below each
cell stands what the instructor's notebook shows there, so every check passes and every picture is
that of a solved notebook. No solution and no hidden test is in the sources that Sphinx sees.

    notebooks/u02_rewrites.md  ->  build/site-solved/u02_rewrites.ipynb     (executed)
                               ->  build/site-sources/u02_rewrites.ipynb  ->  u02_rewrites.html
"""

from __future__ import annotations

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from playground import write_playground
from tqdm import tqdm

from autograder.check.hints import ladder
from autograder.edition.contents import notebook_bytes
from autograder.edition.deliver import write
from autograder.edition.execute import execute
from autograder.edition.facts import page_of
from autograder.edition.sources import Source, expand, grade_id, sources
from course_lib.commands.ops import ops
from course_lib.exercises import Slot, slot

HERE = Path(__file__).resolve().parent
COURSE = HERE.parent
PAGES = {"docs/instructors.md": "instructors", "docs/authoring.md": "authoring"}
TEACHING = COURSE / "docs" / "units"  # u02.md: what the teacher of a unit or lab wants to know

# What `predict` and `compare` of autograder/notebook.py say, and what a page says instead.
GUESSES = (
    (
        re.compile(r"Type your own guess in place of the dots, then run the cell: [\w.]+\."
                   r"|Kept: you say [^<\n]*\.(?=<|\n|$)"),
        "Make a guess before you read on; the answer stands further down.",
    ),
    (re.compile(r"(It is [^<\n]*)\. You made no prediction for [\w.]+\."), r"\1."),
    (
        re.compile(r"You said [^<\n]*?; it is ([^<\n]*?)\."
                   r"( Within 10 %\.| Nearly right\."
                   r"| [\d.e+]+ (times|percentage points) too (high|low)\.)?(?=<|\n|$)"),
        r"It is \1.",
    ),
)  # fmt: skip


def build(into: Path, scratch: Path, solved: Path, notebooks: Path = COURSE / "notebooks") -> None:
    """Write the sources into `scratch` and let Sphinx make the pages in `into`.

    `solved` holds the instructor's notebooks, executed.
    """
    write_sources(scratch, solved, notebooks)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    done = subprocess.run([*command, str(scratch), str(into)], check=False)
    if done.returncode:
        raise SystemExit("make site: Sphinx reported the problems above")
    print(f"{into / 'index.html'}: {len(list(into.glob('*.html')))} pages")


def solve(solved: Path, notebooks: Path) -> None:
    """Write the instructor's notebooks into `solved` and run them, as many at once as cores."""
    shutil.rmtree(solved, ignore_errors=True)
    for source in (found := sources(notebooks)):
        write(solved / f"{source.name}.ipynb", notebook_bytes(source, solutions=True))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(execute, [solved / f"{source.name}.ipynb" for source in found])
        list(tqdm(runs, "notebooks", total=len(found)))


def write_sources(scratch: Path, solved: Path, notebooks: Path) -> None:
    """Everything that Sphinx reads, made anew: nothing old can linger."""
    for old in ("_static", "units"):
        shutil.rmtree(scratch / old, ignore_errors=True)
    scratch.mkdir(parents=True, exist_ok=True)
    for old in [*scratch.glob("*.md"), *scratch.glob("*.ipynb")]:
        old.unlink()
    units = sources(notebooks)
    for source in units:
        page = readable(source, nbformat.read(solved / f"{source.name}.ipynb", as_version=4))
        (scratch / f"{source.name}.ipynb").write_text(nbformat.writes(page), encoding="utf-8")
    for path, name in PAGES.items():
        if (COURSE / path).exists():
            shutil.copy(COURSE / path, scratch / f"{name}.md")
    for source in units:
        if (TEACHING / f"{source.key}.md").exists():
            page = page_of(source, TEACHING)
            write(scratch / "units" / f"{source.key}.md", page.encode())
    (scratch / "ops.md").write_text(op_page(), encoding="utf-8")
    (scratch / "index.md").write_text(index_page(units), encoding="utf-8")
    shutil.copytree(HERE / "static", scratch / "_static")
    write_playground(scratch)
    for name in ("conf.py", "mathml.py"):
        shutil.copy(HERE / name, scratch / name)


def readable(source: Source, solved: Any) -> Any:
    """The student's notebook for readers, with the outputs of the solved one: stubs stay as they
    are, hints stand below them. What a notebook says to whoever runs it is said to a reader."""
    notebook = expand(source, solutions=False)
    entries = {grade_id(name): slot(name) for name in source.exercises()}
    shown = {cell.id: cell for cell in solved.cells}
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        marks = cell.metadata.pop("nbgrader", {})
        if cell.cell_type != "code":
            continue
        if marks.get("solution"):
            cells += _hints(entries[marks["grade_id"]], cell.id)
        else:
            cell.outputs = [_to_a_reader(output) for output in shown[cell.id].outputs]
    notebook.cells = cells
    return notebook


def _to_a_reader(output: Any) -> Any:
    """The same output, where it asks for a guess or compares one: a page keeps no guesses."""
    for kind, text in output.get("data", {}).items():
        if kind in ("text/plain", "text/html"):
            for said, instead in GUESSES:
                text = said.sub(instead, text)
            output.data[kind] = text
    return output


def _hints(entry: Slot, cell_id: str) -> list[Any]:
    """Three hints, each folded: a reader opens as many as needed."""
    folded = [
        f'<details class="hints"><summary>Hint {number}</summary><p>{_as_html(hint)}</p></details>'
        for number, hint in enumerate(ladder(entry), 1)
    ]
    text = "\n\n".join(folded)
    return [nbformat.v4.new_markdown_cell(text, id=f"{cell_id[:57]}-hints")] if folded else []


def _as_html(hint: str) -> str:
    """Not by way of Markdown: there, a line that begins with %a is a comment, and ** is bold."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(hint))


def op_page() -> str:
    """The op table as a page: the same text as `python -m course_lib ops`."""
    table = ops(Namespace(op=None)).text
    intro = (
        "Everything the compiler knows about an op is one row of this table (`course_lib/ir/ops`)."
    )
    return f"# The op table\n\n{intro}\n\n```text\n{table}\n```\n"


def index_page(units: list[Source]) -> str:
    """The start page with the contents of the whole site."""
    readme = (HERE / "welcome.md").read_text(encoding="utf-8")
    pages = [name for path, name in PAGES.items() if (COURSE / path).exists()]
    names = [source.key for source in units]
    pages += [f"units/{name}" for name in names if (TEACHING / f"{name}.md").exists()]
    parts = [
        _contents("Units", [source.name for source in units]),
        _contents("The compiler", ["playground", "ops"]),
        _contents("For teachers", pages) if pages else "",
    ]
    return "\n\n".join([readme.strip(), *filter(None, parts)]) + "\n"


def _contents(caption: str, names: list[str]) -> str:
    listed = "\n".join(names)
    return f"```{{toctree}}\n:maxdepth: 1\n:caption: {caption}\n\n{listed}\n```"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=COURSE / "build" / "site")
    parser.add_argument("--notebooks", type=Path, default=COURSE / "notebooks")
    parser.add_argument(
        "--solved", type=Path, help="executed instructor's notebooks that are there"
    )
    options = parser.parse_args()
    into = options.into.resolve()
    solved = options.solved or into.with_name(into.name + "-solved")
    if not options.solved:
        solve(solved, options.notebooks)
    build(into, into.with_name(into.name + "-sources"), solved, options.notebooks)


if __name__ == "__main__":
    main()
