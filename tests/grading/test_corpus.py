"""Every hostile or broken submission of the corpus gets its verdict, and harms nothing.

Seven attacks share a notebook: each fills an exercise of unit 98 (tests/attack_unit), and an honest
answer stands below them all. The grader, that answer and the machine's files stay as they were.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import autograder.units
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.grading.assignment import Assignment
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.page import feedback_page
from autograder.grading.program import Unreadable, read
from autograder.process.branch import close_all
from autograder.process.start import hide, mode, protected, trust_ours

UNIT = Path(__file__).resolve().parents[1] / "attack_unit"
LIMITS = Limits(start=300, cell=60, call=0.5, callbacks=1000, exercise=60, cells=300, total=3000,
                starts=1000)  # fmt: skip
ATTACKS = 7  # in one notebook


def load(name: str):
    path = Path(__file__).with_name("corpus") / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"attack_corpus_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


answers = load("answers")
BATCHES = [
    (f"{group}-{start // ATTACKS}", list(table.items())[start : start + ATTACKS])
    for group, table in answers.GROUPS.items()
    for start in range(0, len(table), ATTACKS)
]
trust_ours()
IN_A_SANDBOX = protected(mode())


@pytest.fixture(scope="session")
def attacked(tmp_path_factory) -> Iterator[Assignment]:
    autograder.units.__path__.append(str(UNIT / "units"))
    folder = tmp_path_factory.mktemp("attacked")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    (source,) = sources(UNIT / "notebooks", 98)
    yield Assignment.of(source, folder)
    autograder.units.__path__.remove(str(UNIT / "units"))


@pytest.fixture(scope="session")
def places(tmp_path_factory) -> dict[str, Path]:
    """What an attack would like to find: a secret file, other submissions."""
    folder = tmp_path_factory.mktemp("teacher")
    (folder / "secret.txt").write_text("grades")
    (folder / "submissions").mkdir()
    (folder / "submissions" / "ada.ipynb").write_text("{}")
    hide(folder / "submissions")
    return {
        "SECRET": folder / "secret.txt",
        "SUBMISSIONS": folder / "submissions",
        "CHECKOUT": COURSE,
    }


def state(places: dict[str, Path]) -> tuple:
    """What an attack must not change. What waits for the next submission is none of it."""
    close_all()
    files = {p: p.read_bytes() for p in places["SECRET"].parent.rglob("*") if p.is_file()}
    running = [p.name() for p in psutil.Process().children(recursive=True)]
    handler = signal.getsignal(signal.SIGALRM)
    return files, running.count("bwrap"), os.getcwd(), handler, sys.stdout


def cell(number: int, body: str, places: dict[str, Path]) -> str:
    names = "".join(f"{name} = {str(path)!r}\n" for name, path in places.items())
    head = f'@implements("u98.a{number}")\ndef answer_{number}(step, graph):\n'
    return answers.PRELUDE + names + head + textwrap.indent(body, "    ")


HONEST = """
from course_lib.ir.graph.graph import Graph
@implements("u98.honest")
def honest(step, graph): return Graph.of(graph.inputs, graph.outputs, graph.name)
"""


@pytest.mark.parametrize("name, cases", BATCHES, ids=[name for name, _ in BATCHES])
def test_every_attack_gets_its_verdict(name, cases, attacked, notebook, places):
    if name.startswith("files") and not IN_A_SANDBOX:
        pytest.skip("a plain process can read the machine's files")
    before = state(places)
    cells = [cell(n, body, places) for n, (_, (body, _, _)) in enumerate(cases, 1)]
    report = grade(attacked, read(notebook(*cells, HONEST)), limits=LIMITS)
    verdicts = {v.exercise: v for v in report.verdicts}
    for number, (attack, (_, expected, _)) in enumerate(cases, 1):
        verdict = verdicts[f"u98.a{number}"]
        assert verdict.kind in expected, f"{attack}: {verdict!r}"
        assert verdict.earned == (1 if verdict.kind == "passed" else 0), attack
    assert verdicts["u98.honest"].kind == "passed", verdicts["u98.honest"]
    assert state(places) == before
    page = feedback_page(report, "ada")
    assert len(page) < 500_000 and "<script" not in page
    if not name.startswith("files"):  # those name its places themselves
        assert not any(str(COURSE) in v.problem + v.error for v in report.verdicts)


files = load("files").FILES


@pytest.mark.parametrize("name", files)
def test_every_broken_file_is_told_what_is_wrong_or_earns_nothing(name, attacked):
    data, reason, _ = files[name]
    if reason is not None:
        with pytest.raises(Unreadable, match=reason):
            read(data)
        return
    program = read(data)
    for number in range(len(program.cells)):
        assert program.cells[number].source.encode(), "what runs is text"
    if not program.answers & set(attacked.exercises):
        report = grade(attacked, program, limits=LIMITS)
        assert report.earned == 0 and {v.kind for v in report.verdicts} == {"not attempted"}


def test_the_corpus_is_large_enough():
    assert sum(map(len, answers.GROUPS.values())) >= 120
    assert sum(map(len, answers.GROUPS.values())) + len(files) >= 180
