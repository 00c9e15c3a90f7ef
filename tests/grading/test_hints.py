"""The hint ladder: read from the unit's folder, shown one by one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import autograder.units
from autograder.check import hints
from autograder.check.hints import hint, ladder, ladders
from course_lib.exercises import slot


def test_hints_come_one_by_one_and_then_all_again(monkeypatch, capsys):
    monkeypatch.setattr(hints, "_shown", {})
    for _ in range(4):
        hint("u99.bytes")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "u99.bytes, hint 1 of 3: How wide?"
    assert said[2] == "u99.bytes, hint 3 of 3: 6 * 4"
    assert said[3:] == said[:3]  # asked once more: all of them


def test_hint_of_no_exercise_is_said_and_not_raised(capsys):
    hint("u99.byte")
    assert "Did you mean 'u99.bytes'?" in capsys.readouterr().out


def test_exercise_without_hints_says_so(capsys):
    assert ladder(slot("u99.until")) == ()
    hint("u99.until")
    assert capsys.readouterr().out == "u99.until has no hints.\n"


def test_lines_of_a_hint_are_one_text(unit_of_hints):
    unit_of_hints(
        "## u97.a\n\n1. one\n   more\n2. `two`\n3. three\n\n## u97.b\n\n1. x\n2. y\n3. z\n"
    )
    assert ladders(97) == {"u97.a": ("one more", "`two`", "three"), "u97.b": ("x", "y", "z")}


def test_a_ladder_has_three_steps(unit_of_hints):
    unit_of_hints("## u97.a\n\n1. one\n2. two\n")
    with pytest.raises(ValueError, match=r"u97\.a: a hint ladder has 3 steps, not 2"):
        ladders(97)


@pytest.fixture
def unit_of_hints(tmp_path: Path, monkeypatch):
    """Writes the hints of a unit 97."""

    def written(text: str) -> None:
        (tmp_path / "u97").mkdir()
        (tmp_path / "u97" / "__init__.py").write_text("")
        (tmp_path / "u97" / "hints.md").write_text(text)
        importlib.invalidate_caches()

    monkeypatch.setattr(autograder.units, "__path__", [*autograder.units.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "autograder.units.u97", raising=False)
    ladders.cache_clear()
    yield written
    ladders.cache_clear()
