"""From a notebook source to what a learner finds in their folder."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

from autograder.edition.contents import COURSE, contents, library, notebook_bytes
from autograder.edition.deliver import MANIFEST, deliver
from autograder.edition.release import release
from autograder.edition.solutions import solution_body, without_answers
from autograder.edition.sources import exercise_cells, expand, sources
from autograder.grading.assignment import Assignment
from autograder.validate import verdict_of
from course_lib.exercises import implements, slot, unplug

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"

HELPERS = '''"""A file with helpers."""
from course_lib.exercises import exercise

LIMIT = 3


# Only the solution needs this.
def _secret(n):
    return _deeper(n)


def _deeper(n):
    return n * _FACTOR


_FACTOR = 2


def _shared(n):
    return n


def keep(n):
    return _shared(n)


@exercise("x.early", unit=1, points=1)
def early(n):
    """Early."""
    return _shared(n) + 1


@exercise("x.late", unit=5, points=1, baseline=keep)
def late(n: int, *rest, scale=1, **more) -> int:
    """Late.

    Two lines.
    """
    # the trick
    return _secret(n)  # here
    # trailing


def after(n):
    return late(n)
'''


@pytest.mark.parametrize("solutions", [True, False])
def test_notebooks_are_valid_for_jupyter_and_nbgrader(source, solutions):
    notebook = expand(source, solutions=solutions)
    nbformat.validate(notebook)
    MetadataValidatorV3().validate_nb(notebook)
    assert "jupytext" not in notebook.metadata
    assert notebook_bytes(source, solutions=solutions) == notebook_bytes(
        source, solutions=solutions
    )


def test_folded_cell_is_folded_in_jupyterlab_and_on_the_website(tmp_path):
    text = "```{code-cell} ipython3\n:tags: [hide-input]\n\nprint(1)\n```\n"
    (tmp_path / "u95_folded.md").write_text(text)
    (cell,) = expand(sources(tmp_path)[0], solutions=False).cells
    assert (cell.source, cell.metadata.tags) == ("print(1)", ["hide-input"])
    assert cell.metadata.jupyter.source_hidden


def test_cells_show_no_comments_for_tools():
    for real in sources(COURSE / "notebooks"):
        notebook = expand(real, solutions=False)
        assert not any("# fmt:" in cell.source for cell in notebook.cells), real.name


def test_every_kind_of_exercise_becomes_its_cells(source):
    notebook = expand(source, solutions=False)
    marks = {c.id: c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata}
    stub, check, why = marks["u99-sweep"], marks["u99-sweep-check"], marks["u99-why"]
    assert (stub.solution, stub.grade, stub.locked) == (True, False, False)
    assert (check.solution, check.grade, check.locked, check.points) == (False, True, True, 3)
    assert (why.solution, why.grade, why.cell_type) == (True, True, "markdown")


def test_a_further_exercise_says_that_it_is_a_bonus_and_adds_nothing_to_nbgraders_maximum(source):
    cells = {c.id: c for c in expand(source, solutions=False).cells}
    assert "`u99.live` · 2 bonus points · compute a number" in cells["u99-live-title"].source
    assert cells["u99-live-check"].metadata.nbgrader.points == 0
    assert "bonus" not in cells["u99-sweep-title"].source
    assert source.worth() == "10 points, 2 bonus"


POINTED = [f"u99.{name}" for name in ("sweep", "bytes", "dead", "until", "why")]


@pytest.mark.parametrize(
    "names, problem",
    [
        ([*POINTED, "u99.live"], "u99.live is a further exercise and stands above a heading"),
        (["## Further", "u99.live", *POINTED], "u99.why belongs to the core and stands below"),
        ([*POINTED[:4], "## Further", "u99.live", "## More", "u99.why"], "u99.why belongs to the"),
        ([*POINTED, "## Furthermore", "u99.live"], "u99.live is a further exercise and"),
        ([*POINTED, "## Further: counting", "u99.live", "## Where to read on"], ""),
    ],
)
def test_further_exercises_stand_at_the_end_below_their_heading(names, problem, tmp_path):
    parts = (n if n[0] == "#" else f"```{{code-cell}}\n%exercise {n}\n```" for n in names)
    (tmp_path / "u99_order.md").write_text("\n\n".join(["# Order", *parts]) + "\n")
    (ordered,) = sources(tmp_path)
    if not problem:
        assert expand(ordered, solutions=False).cells
        return
    with pytest.raises(ValueError, match=problem):
        expand(ordered, solutions=False)


@pytest.mark.parametrize("name", ["passes.cse", "passes.match", "passes.simplify", "passes.dce"])
def test_solution_cell_is_complete_in_itself(name):
    cell = exercise_cells(slot(name), solutions=True)[1]
    assert ast.get_docstring(ast.parse(cell.source).body[-1]) == slot(name).doc
    exec(cell.source, {"implements": implements, "__name__": "notebook"})
    assert slot(name).answered and slot(name).plugged is not slot(name).reference
    unplug()


@pytest.mark.parametrize("unit", [0, 1])
def test_answers_of_the_very_first_unit_leave_too(unit):
    text = HELPERS.replace("unit=1", "unit=0")
    assert ("_shared(n) + 1" in without_answers(text, unit)) == (unit == 1)
    assert "_secret(n)" not in without_answers(text, unit)


def test_private_helpers_of_an_answer_leave_with_it():
    shorn = without_answers(HELPERS, 5)
    for gone in ("_secret", "_deeper", "_FACTOR", "the trick", "trailing", "Only the solution"):
        assert gone not in shorn
    for kept in ("_shared(n) + 1", "def keep", "def after", "Two lines.", "LIMIT = 3"):
        assert kept in shorn
    assert "    return keep(n, *rest, scale=scale, **more)\n" in shorn
    ast.parse(shorn)


def test_earlier_units_keep_their_answers_and_later_ones_do_not():
    assert without_answers(HELPERS, 6) == HELPERS
    shorn = without_answers(HELPERS, 1)
    assert 'raise NotAnswered("x.early")' in shorn and "_shared(n) + 1" not in shorn


def test_students_library_holds_no_answer_and_nothing_of_the_teachers():
    files = library(0)
    rooms = {part.removesuffix(".py") for name in files for part in name.split("/")}
    assert not rooms & {"hidden", "mutants", "grading", "edition", "validate"}
    text = b"\n".join(files.values()).decode(errors="ignore")
    for name in ("passes.cse", "passes.dce", "passes.match", "u99.sweep"):
        line = max(solution_body(slot(name).reference), key=len).strip()
        assert line not in text, f"{name}: {line}"
    assert b"Rubric(" not in files["autograder/units/u99/exercises.py"]
    assert b"def passes" not in files["course_lib/passes/clean/cse.py"]


def test_the_whole_library_lies_only_where_nobody_is_to_find_the_answers():
    """Self-learners have a copy to read; a class has its own library, a unit's solutions none."""
    copy = "library/course_lib/passes/clean/cse.py"
    assert b"def cse" in contents("open", 99, EXAMPLE)[copy]
    for edition in ("student", "instructor"):
        assert not [name for name in contents(edition, 99, EXAMPLE) if "library/" in name]


def test_student_edition_compiles_and_runs_from_top_to_bottom(tmp_path):
    deliver(contents("student", 99, EXAMPLE), tmp_path)
    notebook = nbformat.read(tmp_path / "u99_example.ipynb", 4)
    NotebookClient(notebook, timeout=3600, resources={"metadata": {"path": tmp_path}}).execute()
    shown = "\n".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    assert "u99.sweep: not attempted yet" in shown
    assert "This cell needs your answer to u99.sweep" in shown
    assert "Type your own guess" in shown


def test_student_edition_answers_and_fails_as_the_course_does(tmp_path):
    deliver(contents("student", 99, EXAMPLE), tmp_path)
    program = """
import course_lib, autograder
assert course_lib.__file__.startswith({here!r})
from autograder import check, implements
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
slot("u99.sweep")
from autograder.units.u99.exercises import sweep, dead
from course_lib.ir.graph.build import trace
g = trace(lambda x: -x, "f32[2]")
assert sweep(g) is g                      # the baseline
try: dead()
except NotImplementedError as error: print(error)
implements("u99.sweep")(lambda g: Graph.of(g.inputs, g.outputs, g.name))
print(check("u99.sweep"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program.format(here=str(tmp_path))],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert "u99.dead has no answer yet" in done.stdout, done.stderr
    assert "u99.sweep: passed (3 of 3 points)" in done.stdout, done.stderr


def needing(answer, tmp_path, **options):
    """What the cell under `%%needs` shows with this answer, whose check nobody has called."""
    deliver(contents("open", 99, EXAMPLE), tmp_path)
    notebook = nbformat.read(tmp_path / "u99_example.ipynb", 4)
    (cell,) = [c for c in notebook.cells if c.source.startswith("%%needs")]
    (stub,) = [c for c in notebook.cells if c.id == "u99-sweep"]
    where = str(EXAMPLE.parent / "units")
    notebook.cells[
        1
    ].source += f"\nimport autograder.units\nautograder.units.__path__.append({where!r})"
    stub.source += f"\nimplements('u99.sweep')({answer})"
    client = NotebookClient(
        notebook, timeout=3600, resources={"metadata": {"path": COURSE}}, **options
    )
    client.execute()
    return cell.outputs


def test_needs_cell_runs_once_there_is_an_answer(tmp_path):
    told, shown = needing("lambda graph: graph", tmp_path)
    assert "has not passed" in told.data["text/plain"], "nobody has called its check"
    assert "neg(%x0)" in shown.text


def test_needs_cell_says_in_words_what_a_wrong_answer_breaks(tmp_path):
    told, error, ended = needing("lambda graph: 1 / 0", tmp_path, allow_errors=True)
    assert "has not passed" in told.data["text/plain"]
    text = error.data["text/plain"]
    assert text.startswith("With this answer, the cell ends in ZeroDivisionError: division by zero")
    assert text.endswith(", in: implements('u99.sweep')(lambda graph: 1 / 0)")
    assert ended.traceback == [], "it only stops what runs all cells"


def test_changed_file_is_never_overwritten(tmp_path):
    assert deliver({"a.ipynb": b"1", "b.py": b"1"}, tmp_path) == []
    (tmp_path / "a.ipynb").write_bytes(b"mine")
    assert deliver({"a.ipynb": b"1", "b.py": b"1"}, tmp_path) == []
    said = deliver({"a.ipynb": b"2", "b.py": b"2"}, tmp_path)
    assert (tmp_path / "a.ipynb").read_bytes() == b"mine"
    assert (tmp_path / "a.new.ipynb").read_bytes() == b"2"
    assert (tmp_path / "b.py").read_bytes() == b"2"
    assert any("a.ipynb: you changed it" in line and "a.new.ipynb" in line for line in said)


def test_changed_newer_version_is_kept_too(tmp_path):
    deliver({"a.ipynb": b"1"}, tmp_path)
    for mine in ("a.ipynb", "a.new.ipynb"):
        deliver({"a.ipynb": mine.encode()}, tmp_path)
        (tmp_path / mine).write_bytes(b"work in " + mine.encode())
    deliver({"a.ipynb": b"3"}, tmp_path)
    deliver({"a.ipynb": b"4"}, tmp_path)
    found = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name != MANIFEST}
    assert found["a.ipynb"] == b"work in a.ipynb"
    assert found["a.new.ipynb"] == b"work in a.new.ipynb"
    assert found["a.new2.ipynb"] == b"4"


def test_an_edition_for_grading_has_our_bytecode_and_nobody_elses(tmp_path, monkeypatch):
    """A module that has one of our names may come from elsewhere, as a test's do."""
    foreign = tmp_path / "answers.py"
    foreign.write_text("")
    module = ModuleType("autograder.elsewhere")
    vars(module).update(__file__=str(foreign), __cached__=f"{foreign}c")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    edition = Assignment.of(sources(COURSE / "notebooks")[0], tmp_path / "editions").edition
    for lent in edition.rglob("*.pyc"):
        source = lent.parent.parent / f"{lent.name.partition('.')[0]}.py"
        assert source.read_bytes() == (COURSE / source.relative_to(edition)).read_bytes()


def test_learners_own_files_and_untracked_ones_stay(tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"mine")
    (tmp_path / "a.ipynb").write_bytes(b"was here before us")
    deliver({"a.ipynb": b"1", "gone.py": b"1"}, tmp_path)
    deliver({"a.ipynb": b"1"}, tmp_path)
    assert (tmp_path / "notes.txt").read_bytes() == b"mine"
    assert (tmp_path / "a.ipynb").read_bytes() == b"was here before us"
    assert not (tmp_path / "gone.py").exists()


def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    deliver({"a.ipynb": b"1"}, tmp_path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        deliver({"a.ipynb": b"2"}, tmp_path)
    assert [p.name for p in tmp_path.glob("a*")] == ["a.ipynb"]
    assert (tmp_path / "a.ipynb").read_bytes() == b"1"


def test_release_is_a_folder_and_a_zip(tmp_path):
    (folder,) = release(tmp_path, 99, EXAMPLE)
    first = (tmp_path / "u99_example.zip").read_bytes()
    assert (folder / "u99_example.ipynb").exists() and (folder / "course_lib").is_dir()
    release(tmp_path, 99, EXAMPLE)
    assert (tmp_path / "u99_example.zip").read_bytes() == first


WRONG_SOURCES = {
    "%exercise u99.sweep\n```\n\n```{code-cell}\n%exercise u99.sweep": "appears twice",
    "%exercise passes.dce": "belongs to unit 2",
    "x = 1": "no cell points to u99.sweep",
}


@pytest.mark.parametrize("text", WRONG_SOURCES)
def test_source_that_points_wrongly_is_refused(text, tmp_path):
    (tmp_path / "u99_wrong.md").write_text(f"# Wrong\n\n```{{code-cell}}\n{text}\n```\n")
    (wrong,) = sources(tmp_path)
    with pytest.raises(ValueError, match=WRONG_SOURCES[text]):
        expand(wrong, solutions=False)


def test_instructors_cell_passes_its_own_checks(source):
    for name in ("u99.sweep", "u99.bytes", "u99.dead", "u99.until"):
        space: dict = {"implements": lambda _: lambda function: function}
        cell = exercise_cells(slot(name), solutions=True)[1]
        exec(cell.source, space)
        answer = space[slot(name).reference.__name__]
        assert verdict_of(slot(name), answer).kind == "passed"
