"""What every test may use.

    def test_drawing(require_tool, golden, table):
        require_tool("dot")          # absent: skipped with a reason; in CI: failed
        golden("scene.txt", text)    # compare with tests/golden/scene.txt
        table("Title", "a row")      # print rows under a title at the end of the run
    folder = once("website", make)                  # made once, for all tests and all workers
    text = run_notebook("instructor", unit=2).text  # all that it shows, executed once as well
    graph = imported("resnet18")                    # a model of the course, for this worker
    file = exported("resnet18") / "default.onnx"    # and as PyTorch exports it, once for all

`pytest --update-golden` rewrites the golden files; look at the diff before you commit it.

How many examples a property is tried on is said here, not beside the property: `make test` draws
the same few every time, `make fuzz` draws many, and others every time. Which tests start first is
said here too.
"""

import fcntl
import gc
import json
import os
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
Make = Callable[[Path], object]


def cores() -> int:
    """How many this process may use."""
    mine = getattr(os, "sched_getaffinity", None)
    return len(mine(0)) if mine else os.cpu_count() or 1


# A worker has its share of the cores: threads that wait for one would take another worker's time.
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() // WORKERS)))

# A worker keeps what it imports and caches to its end: to look through all of it for cycles as
# often as Python does by itself takes 7 % of its time.
gc.set_threshold(50_000, 10, 10)

# A verdict depends neither on how busy the machine is nor on a seed.
ANY_SPEED: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}
settings.register_profile("test", max_examples=30, derandomize=True, **ANY_SPEED)
settings.register_profile("fuzz", max_examples=300, print_blob=True, **ANY_SPEED)
settings.load_profile("test")


# The longest tests, longest first: one that starts last would keep one core busy alone.
LONG = (
    "units/test_memory.py",
    "course/test_site.py",
    "course/test_site_kinds.py",
    "course/test_jupyterlab.py",
    "course/test_empty_environment.py",
    "grading/test_cli.py",
    "grading/test_nbgrader.py",
    "course/test_jupyterhub.py",
    "units/test_units.py",
)


# The grader branches off copies of its process. Other compilers leave threads and gigabytes in one,
# with which a copy may wait for ever: so what grades comes early, and what loads them comes last.
EARLY = ("tests/grading/",)
LATE = ("tests/peers/", "tests/plugins/", "tests/commands/test_record", "tests/units/test_u1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every worker begins with its share of the long tests. xdist gives each worker one piece of
    the list: so each piece has some long tests, and behind them whole files of the others."""
    files = {name: [i for i in items if i.path.as_posix().endswith(name)] for name in LONG}
    long = [item for found in files.values() for item in found]
    chosen = set(long)
    groups: list[list[pytest.Item]] = [[], [], []]
    for item in items:
        if item not in chosen:
            groups[_when(item.path.as_posix())].append(item)
    pieces = [(*long[w::WORKERS], *(item for group in groups for item in _share(group, w)))
              for w in range(WORKERS)]  # fmt: skip
    items[:] = [item for piece in pieces for item in piece]


def _when(path: str) -> int:
    """0, 1 or 2: early, in between, late."""
    late = any(name in path for name in LATE)
    return 0 if any(name in path for name in EARLY) else 1 + late


def _share(group: list[pytest.Item], worker: int) -> list[pytest.Item]:
    size = -(-len(group) // WORKERS)
    return group[worker * size : (worker + 1) * size]


def pytest_collection_finish() -> None:
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files instead of comparing"
    )


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """require_tool("dot") returns the program's path; where it is missing, it ends the test."""
    return find_tool


@pytest.fixture(scope="session")
def missing() -> Callable[[str], NoReturn]:
    """missing("lit") ends a test that needs a program or package that is not here."""
    return end_without


def end_without(name: str) -> NoReturn:
    """Where a user has not installed it, the test is skipped; in .ci/run, it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is missing; .ci/run installs it", pytrace=False)
    pytest.skip(f"{name} is not installed on this machine")


def find_tool(name: str) -> str:
    return shutil.which(name) or end_without(name)


@pytest.fixture(scope="session")
def mlir_tool(missing: Callable[[str], NoReturn]) -> Callable[[str], str]:
    """mlir_tool("mlir-opt-22") is the program that runs passes; so is "torch-mlir"."""
    from course_lib.mlir.upstream.passes import tools

    return lambda name: next((t for t in tools() if t.endswith(name)), None) or missing(name)


@pytest.fixture(scope="session")
def tvm(missing: Callable[[str], NoReturn]) -> Any:
    """TVM's package, which only the extra `peers` installs."""
    from course_lib.plugins.tvm.package import installed, package

    return package() if installed() else missing("apache-tvm")


@pytest.fixture
def browser(require_tool: Callable[[str], str]) -> Iterator[Any]:
    """Debian's chromium without a window, which asks nobody for anything."""
    from playwright.sync_api import sync_playwright

    flags = "sandbox first-run"
    disabled = "gpu quic background-networking component-update sync"
    args = [f"--no-{f}" for f in flags.split()] + [f"--disable-{d}" for d in disabled.split()]
    with sync_playwright() as playwright:
        path = require_tool("chromium")
        chromium = playwright.chromium.launch(executable_path=path, args=args, timeout=600_000)
        yield chromium
        chromium.close()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden("cse.txt", text) asserts that `text` is what tests/golden/cse.txt holds."""
    update = request.config.getoption("--update-golden")

    def check(name: str, text: str) -> None:
        path = ROOT / "tests" / "golden" / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{path.name} does not exist yet: pytest --update-golden writes it"
        assert text == path.read_text(), f"differs from {path.name}; meant? pytest --update-golden"

    return check


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """once("website", make) is a folder that make(folder) filled: once in this run of the tests,
    whichever worker asks first. Where making it failed, every test that asks fails alike."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def get(name: str, make: Make) -> Path:
        folder, problem = shared / name, shared / f"{name}.problem"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not problem.exists():
                folder.mkdir()
                problem.write_text(_problem_of(make, folder))
        if said := problem.read_text():
            pytest.fail(said, pytrace=False)
        return folder

    return get


def _problem_of(make: Callable[[Path], object], folder: Path) -> str:
    try:
        make(folder)
    except Exception:
        return traceback.format_exc()
    return ""


@pytest.fixture(scope="session")
def imported() -> Callable[[str], Any]:
    """imported("resnet18") is that model of the course as a graph; each worker traces it once."""
    pytest.importorskip("torch")
    return _imported


@cache
def _imported(name: str) -> Any:
    from course_lib.frontend import load
    from course_lib.models import MODELS, example_inputs

    return load(MODELS[name].build(), list(example_inputs(name)))


@pytest.fixture(scope="session")
def exported(once: Callable[..., Path]) -> Callable[[str], Path]:
    """exported("resnet18") is a folder with two ONNX files of that model of the course: traced.onnx
    as PyTorch's exporter traced it, default.onnx after the exporter's own clean-up."""
    pytest.importorskip("torch")
    return lambda name: once(f"onnx-{name}", lambda folder: _export(name, folder))


def _export(name: str, folder: Path) -> None:
    import onnx

    from course_lib.models.exported import onnx_model

    onnx.save(onnx_model(name), folder / "traced.onnx")
    onnx.save(onnx_model(name, clean=True), folder / "default.onnx")


@dataclass(frozen=True)
class Executed:
    """A notebook after a run from top to bottom: the file, all that it shows, what it used."""

    path: Path
    text: str
    peak_mb: int
    cpu_seconds: int


@pytest.fixture(scope="session")
def run_notebook(once: Callable[..., Path]) -> Callable[[str, int | str], Executed]:
    """run_notebook("student", 3) is that edition's notebook of unit 3, and a key means the same or
    a lab: executed once for all tests and workers, in a kernel of its own. Nothing may go to
    stderr. In the instructor's edition every prediction of the reader is 10."""
    from autograder.check.keys import key_of

    return lambda edition, unit: _executed(
        once(f"{edition}-{key_of(unit)}", lambda folder: _run(edition, key_of(unit), folder))
    )


def _run(edition: str, key: str, folder: Path) -> None:
    from autograder.edition.contents import contents
    from autograder.edition.deliver import deliver
    from autograder.edition.execute import execute

    deliver(contents(edition, key), folder)
    (path,) = folder.glob("u*.ipynb")
    if edition == "instructor":
        keys = re.findall(r'\bpredict\(\\"([\w.]+)\\"', path.read_text())
        guesses = {key: {"value": 10, "unit": ""} for key in keys}
        (folder / "predictions.json").write_text(json.dumps(guesses))
    execute(path)


def _executed(folder: Path) -> Executed:
    import nbformat

    (path,) = folder.glob("u*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert not [o for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    text = "\n".join(o.get("text") or o.data["text/plain"] for o in outputs)
    return Executed(path, text, **notebook.metadata["used"])


@pytest.fixture
def table(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """table("Peak memory", "u02   780 MB") adds a row to a table that ends the run's output."""
    return lambda title, row: request.node.user_properties.append(("table", (title, row)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [r for found in terminalreporter.stats.values() for r in found]
    said = [p for r in reports if getattr(r, "when", "") == "call" for p in r.user_properties]
    rows = sorted(tuple(value) for name, value in said if name == "table")
    for title in dict.fromkeys(title for title, _ in rows):
        terminalreporter.section(title)
        for row in (row for of, row in rows if of == title):
            terminalreporter.line(row)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: one worker more than cores, for the tests that wait for a browser, a sandbox or
    pip: a sixth of all that two workers did on two cores was to wait."""
    return cores() + 1
