"""The fixtures of conftest.py: a missing tool skips a test, but not in continuous integration.

require_tool("dot")      present: its path     absent: skipped     absent and CI=true: failed
golden("a.txt", text)    compares, and writes under --update-golden
once("folder", make)     makes it once, however many workers ask
table("Title", "row")    prints the rows of all workers under one title
"""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def outcome(root, tmp_path):
    """Run tests in a folder of its own that has our conftest; return what pytest prints."""
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests" / "conftest.py", tmp_path / "tests")

    def run(test: str, *options: str, ci: str = "") -> str:
        (tmp_path / "tests" / "test_it.py").write_text(test)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        alone = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
        environment = {**alone, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        result = subprocess.run(
            [*command, "tests"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return result.stdout

    return run


NEEDS = "def test_it(require_tool): assert require_tool({!r}).endswith({!r})"
GOLDEN = "def test_it(golden): golden('a.txt', {!r})"


@pytest.mark.parametrize(
    ("tool", "ci", "verdict"),
    [
        ("sh", "true", "1 passed"),
        ("no-such-tool", "", "1 skipped"),
        ("no-such-tool", "true", "1 failed"),
    ],
)
def test_missing_tool_skips_here_and_fails_in_ci(outcome, tool, ci, verdict):
    assert verdict in outcome(NEEDS.format(tool, tool), ci=ci)


def test_golden_file_is_written_compared_and_updated_on_request_only(outcome):
    assert "1 failed" in outcome(GOLDEN.format("one"))
    assert "1 passed" in outcome(GOLDEN.format("one"), "--update-golden")
    assert "1 passed" in outcome(GOLDEN.format("one"))
    assert "1 failed" in outcome(GOLDEN.format("two"))


ONCE = """
import pytest

@pytest.mark.parametrize("n", range(8))
def test_it(once, table, tmp_path_factory, n):
    def make(folder):
        with open({log!r}, "a") as log:
            log.write("made ")
        {then}
    folder = once("heavy", make)
    assert folder.is_dir()
    table("Rows", f"row {{n}}")
"""
TWO_WORKERS = ("-p", "xdist.plugin", "-n", "2")


@pytest.mark.parametrize("workers", [(), TWO_WORKERS])
def test_what_is_made_once_is_made_by_one_worker_and_rows_come_from_all(outcome, tmp_path, workers):
    log = tmp_path / "log"
    said = outcome(ONCE.format(log=str(log), then="pass"), *workers)
    assert "8 passed" in said and log.read_text() == "made "
    rows = [line for line in said.splitlines() if line.startswith("row ")]
    assert rows == [f"row {n}" for n in range(8)]


def test_what_could_not_be_made_fails_every_test_alike_and_is_not_tried_again(outcome, tmp_path):
    log = tmp_path / "log"
    said = outcome(ONCE.format(log=str(log), then="raise OSError('no space')"), *TWO_WORKERS)
    assert "8 failed" in said and said.count("OSError: no space") >= 8
    assert log.read_text() == "made "
