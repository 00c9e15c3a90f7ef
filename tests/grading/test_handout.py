"""What a student gets beside the notebook, and what its first cell says where something is missing.

unzip u00_tour.zip; pip install -r requirements.txt      ->  the notebook runs to its end
opened in a Python without torch                         ->  what to install, and no traceback
"""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.edition import course_environment
from autograder.edition.contents import COURSE, beside, contents, library
from autograder.edition.course_environment import NotReady, look
from autograder.edition.handout import FIRST_CELL, with_first_cell
from autograder.edition.release import release
from autograder.edition.requirements import installed_by_lab, requirements
from autograder.edition.sources import Source, expand, sources
from autograder.grading.program import read

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"
UNITS = [pytest.param(source, id=source.name) for source in sources(COURSE / "notebooks")]
HIDDEN = ("torch", "functorch", "torchgen", "onnx")


def pins(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line and line[0] not in "#-"]
    return {name: version for name, version in (line.split("==") for line in lines)}


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory, example_unit) -> Path:
    """The folder of unit 99, unpacked from its zip."""
    into = tmp_path_factory.mktemp("release")
    release(into, 99, EXAMPLE)
    with zipfile.ZipFile(into / "u99_example.zip") as archive:
        archive.extractall(into / "home")
    return into / "home" / "u99_example"


def test_requirements_are_those_of_the_constraints_and_of_make_lab(handed_out):
    wanted = pins((handed_out / "requirements.txt").read_text())
    ours = pins((COURSE / "constraints.txt").read_text())
    assert {"numpy", "jupyterlab", "ipykernel"} <= set(wanted) <= set(installed_by_lab())
    assert wanted == {name: ours[name] for name in wanted}
    assert "\n-c constraints.txt\n" in (handed_out / "requirements.txt").read_text()
    assert (handed_out / "constraints.txt").read_bytes() == (
        COURSE / "constraints.txt"
    ).read_bytes()


def imports(text: str) -> Iterator[str]:
    """The modules that a text imports anywhere, without its lines for IPython."""
    for node in ast.walk(ast.parse(re.sub(r"^%.*$", "", text, flags=re.M))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.fixture(scope="module")
def whole_library() -> dict[str, bytes]:
    return library(99)


@pytest.mark.parametrize("unit", UNITS)
def test_every_package_that_a_unit_imports_is_in_its_requirements(unit, whole_library):
    """In its cells, ours included, and in its own modules: what of that make lab installs."""
    folder = f"autograder/units/{unit.key}/"
    paths = [p for p in whole_library if p.startswith(folder) and p.endswith(".py")]
    asked = [c.source for c in expand(unit, solutions=False).cells if c.cell_type == "code"]
    solved = [c.source for c in expand(unit, solutions=True).cells if c.cell_type == "code"]
    names = [path.removesuffix(".py").replace("/", ".") for path in paths]
    found = {line.split("==")[0] for line in requirements(asked, names, whole_library)}
    texts = solved + [whole_library[path].decode() for path in paths]
    imported = {name.partition(".")[0] for text in texts for name in imports(text)}
    assert imported & set(installed_by_lab()) <= found
    assert {"jupyterlab", "ipykernel", "hypothesis"} <= found, "and what checking needs"


def test_a_unit_asks_for_no_package_of_another_one(whole_library):
    def names(unit: int) -> set[str]:
        (source,) = sources(COURSE / "notebooks", unit)
        return set(pins(beside([source])["requirements.txt"].decode()))

    first, tenth = names(0), names(10)
    assert "xdsl" in tenth and not first & {"xdsl", "tinygrad", "filecheck", "jupytext", "nbclient"}


def test_the_readme_names_the_unit_and_its_notebook(handed_out):
    text = (handed_out / "README.md").read_text()
    assert text.startswith("# The example unit\n")
    assert "jupyterlab u99_example.ipynb" in text and "`u99_example.ipynb`" in text
    assert "{" not in text


def test_only_what_is_handed_out_begins_with_the_cell_that_looks(source):
    for edition, begins in (("student", True), ("open", False), ("instructor", False)):
        page = nbformat.reads(contents(edition, 99, EXAMPLE)["u99_example.ipynb"].decode(), 4)
        assert (page.cells[0].source == FIRST_CELL) == begins
        assert [c.source for c in page.cells].count(FIRST_CELL) == begins
        nbformat.validate(page)


def test_the_first_cell_is_no_part_of_what_is_graded(source: Source):
    notebook = expand(source, solutions=True)
    plain = read(nbformat.writes(notebook).encode())
    looking = read(nbformat.writes(with_first_cell(notebook)).encode())
    assert [c.source for c in plain.cells] == [c.source for c in looking.cells]


# What the first cell says.


def test_where_all_is_there_it_says_nothing(handed_out, capsys):
    look(handed_out)
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in course_environment.LIBRARY:
        (tmp_path / name).mkdir()
    (tmp_path / "requirements.txt").write_text("# all\n-c constraints.txt\nnumpy==1.0\nnosuch==2\n")
    return tmp_path


def test_what_is_missing_is_named_with_what_to_run(home):
    with pytest.raises(NotReady) as said:
        look(home)
    assert "lacks a package that the notebook needs: nosuch." in str(said.value)
    assert f'"{sys.executable}" -m pip install -r requirements.txt' in str(said.value)
    assert said.value._render_traceback_() == [str(said.value)]


def test_another_version_is_said_and_stops_nothing(home, capsys):
    (home / "requirements.txt").write_text("numpy==1.0\n")
    look(home)
    have = importlib.metadata.version("numpy")
    assert capsys.readouterr().out == (
        f"The course was tested with numpy 1.0;\nthis kernel has numpy {have}. It may still work.\n"
    )


def test_a_build_for_the_processor_is_the_same_version(home, monkeypatch, capsys):
    (home / "requirements.txt").write_text("torch==2.13.0\n")
    monkeypatch.setattr(course_environment, "installed", lambda name: "2.13.0+cpu")
    look(home)
    assert capsys.readouterr().out == ""


def test_a_notebook_without_its_folder_is_told_to_unpack_the_zip(tmp_path):
    with pytest.raises(NotReady, match="Unpack the whole zip"):
        look(tmp_path)


def test_an_old_python_is_told_so_in_words_that_it_can_read(home):
    ast.parse(Path(course_environment.__file__).read_text(), feature_version=(3, 6))
    with pytest.raises(NotReady, match=r"runs Python 3\.9\.2; the course needs Python 3\.11"):
        look(home, python=(3, 9, 2, "final", 0))


@pytest.fixture
def without_torch(tmp_path: Path, monkeypatch) -> SimpleNamespace:
    """A kernel whose environment has all packages of this one but torch and onnx."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (there,) = venv.glob("lib/python*/site-packages")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match(rf"_?({'|'.join(HIDDEN)})(-[\d.]+.*)?$|__editable__", path.name):
            (there / path.name).symlink_to(path)
    spec = tmp_path / "share" / "kernels" / "bare"
    spec.mkdir(parents=True)
    command = [str(venv / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "bare"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return SimpleNamespace(kernel="bare", python=command[0])


def test_a_kernel_without_torch_says_what_to_do_and_no_cell_ends_in_a_traceback(
    handed_out, without_torch
):
    """Here every cell is run, whatever the one before said; JupyterLab stops at the first."""
    (handed_out / "requirements.txt").write_text("numpy==2.4.6\ntorch==2.13.0\nonnx==1.23.2\n")
    notebook = nbformat.read(handed_out / "u99_example.ipynb", as_version=4)
    notebook.cells.insert(1, nbformat.v4.new_code_cell("import torch"))
    where = {"metadata": {"path": handed_out}}
    NotebookClient(
        notebook, timeout=3600, kernel_name=without_torch.kernel, resources=where,
        allow_errors=True,
    ).execute()  # fmt: skip
    said, torch, *_ = (cell.outputs[0] for cell in notebook.cells if cell.get("outputs"))
    assert said.output_type == "error" and len(said.traceback) == 1
    assert "lacks 2 packages that the notebook needs: torch, onnx." in said.traceback[0]
    assert f'"{without_torch.python}" -m pip install -r requirements.txt' in said.traceback[0]
    assert torch.text == (
        "This cell did not run. The first cell of the notebook says what is missing.\n"
    )
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output for output in shown if output.output_type == "error"] == [said]
    assert "Traceback" not in json.dumps(notebook)
