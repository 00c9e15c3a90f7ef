"""The real units: every exercise is sound, and a released notebook runs before it is answered."""

from __future__ import annotations

import ast
import symtable
from pathlib import Path

import pytest

from autograder.check.feedback import as_html
from autograder.check.hints import ladders
from autograder.check.verdict import CRASHED, LATER, PASSED, TIMED_OUT, WRONG, Verdict, as_text
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.solutions import signature_line
from autograder.edition.sources import Source, expand, sources
from autograder.grading.program import read
from autograder.soundness.exercise import exemplars, not_there_yet, own_problems, problems_of
from autograder.soundness.mutation import mutate
from autograder.soundness.reference import can_be_changed
from autograder.text.cells import IMPLEMENTS, plain_python
from autograder.validate import few_kinds, form_problems, grader_problems, leaks, survivors
from course_lib.exercises import Slot, load_all, slot, slots

FOLDERS = sorted(path.parent for path in (COURSE / "autograder/units").glob("u*/*/__init__.py"))
UNITS = sources(COURSE / "notebooks")
EXERCISES = [name for source in UNITS for name in source.exercises()]
CHANGED = [name for name in EXERCISES if can_be_changed(slot(name))]
# Wrong answers that no visible check sees: the numbers that show it are the grader's.
SEEN_BY_THE_GRADER = {"nothing_costs_a_million", "only_the_names_of_the_machine",
                      "the_latest_start_is_spilled", "cuts_the_word_at_256_bits",
                      "cuts_the_word_at_2048_bits", "blocks_up_to_the_fifth"}  # fmt: skip
TWO_TEXTS = {"passes.match", "u14.merged", "u06.too_early"}  # more than one graph in one text
# Of units 0 to 2, only these draw cases, and only what was tried is called the smallest:
# tests/grading/test_smallest.py.
SMALLEST = {"accelerator.systolic.cycles", "ir.windows.positions"}
# Without these our answers to a unit do not run.
PACKAGES = {10: ("xdsl", "filecheck"), 11: ("xdsl",)}
PROGRAMS = {"u07_lab_matmul": ("g++",)}


@pytest.fixture(autouse=True)
def packages(request, require_tool):
    """Skip what is about a unit whose packages or programs are not installed."""
    given = getattr(getattr(request.node, "callspec", None), "params", {})
    about = given.get("source") or (slot(given["name"]) if "name" in given else None)
    for package in PACKAGES.get(about.unit, ()) if about else ():
        pytest.importorskip(package)
    for program in PROGRAMS.get(about.key, ()) if about else ():
        require_tool(program)


@pytest.mark.parametrize("name", EXERCISES)
def test_exercise_is_sound(name):
    """Our answer passes, the stub earns nothing, every sentence of the text has a check, every
    mutant fails, and what its author is told is of use before it is handed in. (The alternatives
    are graded in test_both_ways.py.)"""
    entry = slot(name)
    if entry.kind == "explain":
        assert problems_of(entry) == []
        return
    assert own_problems(entry) == []  # first: the examples that it makes are there for the others
    given = exemplars(entry, right_ones=False)
    assert list(given.problems) == []
    assert not_there_yet(entry, given) == []
    told = {label: problem for label, verdict in given.told.items()
            if (problem := _useless(entry, label, verdict))}  # fmt: skip
    assert told == {}


def _useless(entry: Slot, label: str, verdict: Verdict) -> str:
    """What is wrong with what a wrong answer is told; "" if nothing is."""
    if verdict.kind in (PASSED, LATER):  # worth less; the form is right, and the grader judges
        return ""
    if verdict.kind not in (WRONG, CRASHED, TIMED_OUT):
        return f"it is {verdict.kind}"
    if verdict.hidden and label not in SEEN_BY_THE_GRADER:
        return f"no visible check sees it, {verdict.check} does"
    text, page = as_text(verdict), as_html(verdict)
    if " ".join(verdict.spec.split()) not in " ".join(entry.doc.split()):
        return f"it quotes what the text does not say: {verdict.spec}"
    if f'hint("{entry.name}")' not in text:
        return "it names no hint"
    if entry.unit <= 2 and not verdict.hidden:
        if ("smallest" in text) != verdict.smallest:
            return "it calls something the smallest that is not, or does not say so"
        if verdict.smallest and entry.name not in SMALLEST:
            return "it calls a program the smallest that was written by hand"
    if "Traceback" in text or "site-packages" in text + page:
        return "it shows what is ours"
    a_graph = "graph @" in text and "dense<...>" not in text and "cannot be used" not in text
    if a_graph and "<svg" not in page and entry.name not in TWO_TEXTS:
        return f"its program is not drawn: {text}"
    return ""


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_hints_are_about_exercises_of_the_unit(source):
    assert ladders(source.key).keys() <= set(source.exercises())


@pytest.mark.parametrize("name", CHANGED)
def test_no_changed_answer_passes_without_a_reason(name):
    """A sample, the same every time; `make validate` tries all of them."""
    entry = slot(name)
    report = mutate([entry], jobs=1, keep=lambda number, answer: number == 1 or number % 50 == 7)[
        name
    ]
    assert report.mutants, "a sample of nothing"
    found = [line for line in survivors(report) if "any more" not in line]
    assert found == []
    assert report.killed or report.equivalent or found, "some answer is tried"


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_our_notebook_earns_everything_and_the_untouched_one_nothing(source: Source):
    assert grader_problems(source) == []


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_grading_runs_none_of_the_lesson(source: Source):
    """Our answers need imports and settings; a table or a measurement would cost each student."""
    program = read(notebook_bytes(source, solutions=True))
    helpers = [ast.parse(cell.source).body[0] for cell in program.cells if not cell.answers]
    kinds = (ast.Import, ast.ImportFrom)
    ran = [ast.unparse(one) for one in helpers if not isinstance(one, kinds)]
    assert [text for text in ran if not text.startswith("warnings.filterwarnings(")] == []


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_released_notebook_holds_no_answer(source: Source):
    assert leaks(source, source.exercises()) == []


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_no_cell_uses_a_name_again_that_another_imports_or_defines(source: Source):
    """An answer reads its names when it is called: a loop further down would take them away."""
    cells = [c.source for c in expand(source, solutions=False).cells if c.cell_type == "code"]
    code = [plain_python(cell) for cell in cells if not IMPLEMENTS.search(cell)]
    kept = [_imported_or_defined(text) for text in code]
    for text, mine in zip(code, kept, strict=True):
        symbols = symtable.symtable(text, "cell", "exec").get_symbols()
        assigned = {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
        taken = assigned & set().union(*(names for names in kept if names is not mine))
        assert not taken, f"other cells need {taken}, and this one assigns it:\n{text}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_no_file_takes_a_name_away_from_the_folder_it_lies_in(folder: Path):
    """Importing checks/cse.py makes `cse` of checks/__init__.py that module."""
    text = (folder / "__init__.py").read_text()
    symbols = symtable.symtable(text, "__init__", "exec").get_symbols()
    assert not {s.get_name() for s in symbols} & {path.stem for path in folder.glob("*.py")}


def _imported_or_defined(text: str) -> set[str]:
    tree = ast.parse(text)
    imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    names = {(a.asname or a.name).split(".")[0] for node in imports for a in node.names}
    return names | {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_released_notebook_runs_from_top_to_bottom(source: Source, run_notebook):
    shown = run_notebook("student", unit=source.key).text
    asked = [name for name in source.exercises() if slot(name).kind != "explain"]
    for name in asked:
        assert f"{name}: not attempted yet" in shown


def test_the_first_line_of_an_answer_fits_into_a_cell():
    load_all()
    lines = {e.name: signature_line(e.reference) for e in slots()}
    assert not [name for name, text in lines.items() if max(map(len, text.split("\n"))) > 100]
    assert lines["u12.clock"].startswith("def clock(\n    right: np.ndarray, down: np.ndarray, ")


def test_every_unit_has_three_kinds_of_exercises_and_every_lab_its_milestones():
    for source in UNITS:
        assert form_problems(source) == [], source.name
    numbers = [name for name in EXERCISES if slot(name).kind == "number"]
    (problem,) = few_kinds(numbers)
    assert problem == "a unit has 3 kinds of exercises at least; here: number"


def test_onnxruntime_is_asked_in_one_way_and_an_answer_is_plugged_in_in_one_way(root):
    """peers/onnxruntime.py and check/plugs.py; the process of hostile files has its own."""
    files = [file for package in ("lessons", "autograder")
             for file in (root / package).rglob("*.py")]  # fmt: skip
    for words, place in (("SessionOptions()", "onnx_child.py"), ("Context().run(", "plugs.py")):
        assert {file.name for file in files if words in file.read_text()} == {place}
