"""`make fuzz` finds what the few examples of `make test` miss, and says how to see it again.

==> To run it again, add the name that FAILED gives above:
python -m pytest --hypothesis-profile=fuzz --hypothesis-seed=2875031221
"""

import ast
import shlex
import shutil
import subprocess
import sys

import pytest

PROPERTY = """
from hypothesis import given, strategies as st

@given(st.integers(0, 7), st.integers(0, 7))
def test_not_both(a, b):
    assert (a, b) != ({}, 3)
"""

SHARE = "settings().max_examples"  # of the profile that is loaded


@pytest.fixture
def run(root, tmp_path):
    """Run a command of Python in a folder that has our conftest and one property."""
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests" / "conftest.py", tmp_path / "tests")

    def run(*command: str, rare: int = 6) -> tuple[int, str]:
        (tmp_path / "tests" / "test_it.py").write_text(PROPERTY.format(rare))
        result = subprocess.run(
            [sys.executable, *command, "-n", "0"], cwd=tmp_path, capture_output=True, text=True
        )
        return result.returncode, result.stdout

    return run


def test_what_fuzzing_finds_is_found_again_by_the_line_that_it_prints(root, run):
    status, said = run(str(root / "scripts" / "fuzz.py"), "--minutes", "60")
    assert status == 1 and "a=6" in said and "b=3" in said and "==> To run it again" in said
    again = shlex.split(said.splitlines()[-1])[1:]
    status, said = run(*again)
    assert status == 1 and "a=6" in said


def test_every_property_leaves_it_to_the_profile_how_many_examples_are_tried_and_which(root):
    """Settings beside a property would hold for `make fuzz` too; a share of the profile's may."""
    others = [p for p in (root / "tests").rglob("*.py") if p.name != "conftest.py"]
    own = [
        f"{path.name}:{call.lineno} {keyword.arg}"
        for path in others
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("settings")
        for keyword in call.keywords
        if not (keyword.arg == "max_examples" and SHARE in ast.unparse(keyword.value))
    ]
    assert own == []


def test_without_a_failure_the_fuzzing_ends_with_its_time(root, run):
    status, said = run(str(root / "scripts" / "fuzz.py"), "--minutes", "0.05", rare=8)
    assert status == 0 and said.splitlines()[-1] == "==> the time is over"
