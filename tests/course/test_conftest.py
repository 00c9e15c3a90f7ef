"""The fixtures of conftest.py: a missing tool skips a test, but not in continuous integration.

require_tool("dot")      present: its path     absent: skipped     absent and CI=true: failed
golden("a.txt", text)    compares, and writes under --update-golden
"""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def outcome(root, tmp_path):
    """Run one test in a folder of its own that has our conftest; return pytest's last line."""
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests" / "conftest.py", tmp_path / "tests")

    def run(test: str, *options: str, ci: str = "") -> str:
        (tmp_path / "tests" / "test_it.py").write_text(test)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        environment = {**os.environ, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        result = subprocess.run(
            [*command, "tests"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return result.stdout.splitlines()[-1]

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
