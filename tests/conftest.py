"""What every test may use.

    def test_drawing(require_tool, golden, table):
        require_tool("dot")          # absent: skipped with a reason; in CI: failed
        golden("scene.txt", text)    # compare with tests/golden/scene.txt
        table("Title", "a row")      # print rows under a title at the end of the run

`pytest --update-golden` rewrites the golden files; look at the diff before you commit it.
"""

import os
import shutil
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
