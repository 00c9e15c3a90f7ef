"""What every test may use.

    def test_drawing(require_tool, golden, table):
        require_tool("dot")          # absent: skipped with a reason; in CI: failed
        golden("scene.txt", text)    # compare with tests/golden/scene.txt
        table("Title", "a row")      # print rows under a title at the end of the run
    text = run_notebook("instructor", unit=2, folder=tmp_path)   # all that it shows

`pytest --update-golden` rewrites the golden files; look at the diff before you commit it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


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


def find_tool(name: str) -> str:
    path = shutil.which(name)
    if path is None and os.environ.get("CI") == "true":
        pytest.fail(f"{name} is missing; .ci/run installs it", pytrace=False)
    if path is None:
        pytest.skip(f"{name} is not installed on this machine")
    return path


@pytest.fixture
def browser(require_tool: Callable[[str], str]) -> Iterator[Any]:
    """Debian's chromium without a window, which asks nobody for anything."""
    from playwright.sync_api import sync_playwright

    flags = "sandbox first-run"
    disabled = "gpu quic background-networking component-update sync"
    args = [f"--no-{f}" for f in flags.split()] + [f"--disable-{d}" for d in disabled.split()]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=require_tool("chromium"), args=args)
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


RUN_NOTEBOOK = """
import os, sys, nbformat
from nbclient import NotebookClient
folder, name = os.path.split(sys.argv[1])
os.chdir(folder)
notebook = nbformat.read(name, as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, "done.ipynb")
"""


@pytest.fixture(scope="session")
def run_notebook() -> Callable[..., str]:
    """run_notebook("student", unit=3, folder=tmp_path, guesses={"u03.latency": 10}) runs a unit's
    notebook in a kernel of its own. All that it shows as text; nothing may go to stderr."""

    def run(edition: str, unit: int, folder: Path, guesses: dict[str, float] | None = None) -> str:
        import nbformat

        from autograder.edition.contents import contents
        from autograder.edition.deliver import deliver

        deliver(contents(edition, unit=unit), folder)
        kept = {key: {"value": value, "unit": ""} for key, value in (guesses or {}).items()}
        (folder / "predictions.json").write_text(json.dumps(kept))
        (path,) = folder.glob(f"u{unit:02d}_*.ipynb")
        elsewhere = ("PYTHONPATH", "COURSE_ANSWERS")
        environment = {k: v for k, v in os.environ.items() if k not in elsewhere}
        command = [sys.executable, "-c", RUN_NOTEBOOK, str(path)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr[-4000:]
        notebook = nbformat.read(folder / "done.ipynb", as_version=4)
        outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
        assert not [o for o in outputs if o.output_type == "stream" and o.name == "stderr"]
        return "\n".join(o.get("text") or o.data["text/plain"] for o in outputs)

    return run


TABLES = pytest.StashKey[dict[str, list[str]]]()


@pytest.fixture
def table(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """table("Peak memory", "u02   780 MB") adds a row to a table that ends the run's output."""
    tables = request.config.stash.setdefault(TABLES, {})
    return lambda title, row: tables.setdefault(title, []).append(row)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for title, rows in terminalreporter.config.stash.get(TABLES, {}).items():
        terminalreporter.section(title)
        for row in rows:
            terminalreporter.line(row)
