"""The website: `make site` writes it to build/site.

The pages are the students' notebooks as somebody reads them (reader.py). Below each cell stands
what the instructor's notebook shows there, so every check passes and every picture is of a solved
notebook. No solution and no hidden test is in the sources that Sphinx sees.

    notebooks/u02_rewrites.md  ->  build/site-solved/u02_rewrites.ipynb     (executed)
                               ->  build/site-sources/u02_rewrites.ipynb  ->  u02_rewrites.html
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import reference
from landing import page, pictures
from links import badge, downloaded, repository, row
from playground import write_playground
from printing import print_pages
from reader import readable
from tqdm import tqdm

from autograder.edition.atlas import atlas
from autograder.edition.deliver import write
from autograder.edition.execute import execute
from autograder.edition.facts import page_of
from autograder.edition.sources import Source, expand, sources

HERE = Path(__file__).resolve().parent
COURSE = HERE.parent
DEPLOY = COURSE / "docs" / "deploy"  # the files that docs/deploy.md describes, to download
PAGES = {"docs/instructors.md": "instructors", "docs/deploy.md": "deploy",
         "docs/deploy_graders.md": "deploy_graders", "docs/authoring.md": "authoring"}  # fmt: skip
TEACHING = COURSE / "docs" / "units"  # u02.md: what the teacher of a unit or lab wants to know


def build(into: Path, scratch: Path, solved: Path, notebooks: Path, pdf: bool = False) -> None:
    """Write the sources into `scratch` and let Sphinx make the pages in `into`; then print them.

    `solved` holds the instructor's notebooks, executed.
    """
    write_sources(scratch, solved, notebooks, pdf)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    command += ["-d", str(scratch / ".doctrees")]  # not among the pages
    done = subprocess.run([*command, str(scratch), str(into)], check=False)
    if done.returncode:
        raise SystemExit("make site: Sphinx reported the problems above")
    print(f"{into / 'index.html'}: {len(list(into.glob('*.html')))} pages")
    if pdf:
        print_pages(into, [source.name for source in sources(notebooks)])


def solve(solved: Path, notebooks: Path) -> None:
    """Write the instructor's notebooks into `solved` and run them, as many at once as cores."""
    shutil.rmtree(solved, ignore_errors=True)
    for source in (found := sources(notebooks)):
        notebook = nbformat.writes(expand(source, solutions=True))
        write(solved / f"{source.name}.ipynb", notebook.encode())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(execute, [solved / f"{source.name}.ipynb" for source in found])
        list(tqdm(runs, "notebooks", total=len(found)))


def write_sources(scratch: Path, solved: Path, notebooks: Path, pdf: bool = False) -> None:
    """Everything that Sphinx reads, made anew: nothing old can linger."""
    for old in ("_static", "_extra", "deploy", "units", "ops", "passes", "api", "reference"):
        shutil.rmtree(scratch / old, ignore_errors=True)
    scratch.mkdir(parents=True, exist_ok=True)
    for old in [*scratch.glob("*.md"), *scratch.glob("*.ipynb")]:
        old.unlink()
    units = sources(notebooks)
    for source in units:
        notebook = nbformat.read(solved / f"{source.name}.ipynb", as_version=4)
        page = readable(source, notebook, row(source, repository(), printed=pdf))
        (scratch / f"{source.name}.ipynb").write_text(nbformat.writes(page), encoding="utf-8")
    for path, name in PAGES.items():
        if (COURSE / path).exists():
            text = (COURSE / path).read_text(encoding="utf-8")
            text += teaching(units) if name == "instructors" else ""
            (scratch / f"{name}.md").write_text(text, encoding="utf-8")
    for source in units:
        if (TEACHING / f"{source.key}.md").exists():
            page = page_of(source, TEACHING)
            write(scratch / "units" / f"{source.key}.md", page.encode())
    reference.write(scratch, HERE / "glossary.md", units)
    shutil.copytree(HERE / "static", scratch / "_static")
    shutil.copytree(DEPLOY, scratch / "deploy", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(COURSE / "docs" / "img" / "binder.svg", scratch / "_static")
    write(scratch / "_extra" / "404.html", (HERE / "404.html").read_bytes())
    write_playground(scratch)
    for source in units:
        write(scratch / "_extra" / "notebooks" / f"{source.name}.ipynb", downloaded(source))
    (scratch / "index.md").write_text(first_page(units, scratch, solved), encoding="utf-8")
    for name in ("conf.py", "mathml.py", "slim.py"):
        shutil.copy(HERE / name, scratch / name)
    shutil.copytree(HERE / "reference", scratch / "reference")


def first_page(units: list[Source], scratch: Path, solved: Path) -> str:
    """Map, cards and ways in (landing.py), and the contents of the whole site."""
    index = (COURSE / "notebooks" / "index.md").read_text(encoding="utf-8")
    notebooks = [(source.key, solved / f"{source.name}.ipynb") for source in units]
    tour = COURSE / "docs" / "img" / "tour.svg"
    thumbnails = pictures(notebooks, tour, scratch / "_static" / "cards")
    welcome, home = (HERE / "welcome.md").read_text(encoding="utf-8"), repository()
    launch = badge(home) if home else ""
    return index_page(units, page(welcome, atlas(index, units), thumbnails, launch))


def index_page(units: list[Source], readme: str) -> str:
    """The start page with the contents of the whole site."""
    pages = [name for path, name in PAGES.items() if (COURSE / path).exists()]
    parts = [
        _contents("Units", [source.name for source in units]),
        _contents("To look things up", ["playground", *reference.PAGES]),
        _contents("For teachers", pages) if pages else "",
    ]
    return "\n\n".join([readme.strip(), *filter(None, parts)]) + "\n"


def teaching(units: list[Source]) -> str:
    """The contents below the instructors' page: a page for the teacher of each unit."""
    names = [source.key for source in units if (TEACHING / f"{source.key}.md").exists()]
    return "\n" + _contents("Units", [f"units/{name}" for name in names]) + "\n"


def _contents(caption: str, names: list[str]) -> str:
    listed = "\n".join(names)
    return f"```{{toctree}}\n:maxdepth: 1\n:hidden:\n:caption: {caption}\n\n{listed}\n```"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=COURSE / "build" / "site")
    parser.add_argument("--notebooks", type=Path, default=COURSE / "notebooks")
    parser.add_argument(
        "--solved", type=Path, help="executed instructor's notebooks that are there"
    )
    parser.add_argument("--pdf", action="store_true", help="print each unit and the whole course")
    options = parser.parse_args()
    into = options.into.resolve()
    solved = options.solved or into.with_name(into.name + "-solved")
    if not options.solved:
        solve(solved, options.notebooks)
    build(into, into.with_name(into.name + "-sources"), solved, options.notebooks, options.pdf)


if __name__ == "__main__":
    main()
