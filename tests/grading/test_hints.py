"""The hint ladder: read from the unit's folder, shown one by one."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

import autograder.units
from autograder.check import hints
from autograder.check.cards import STYLE, inline
from autograder.check.hints import hint, ladder, ladders
from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from course_lib.exercises import slot


@pytest.fixture(autouse=True)
def none_shown(monkeypatch):
    monkeypatch.setattr(hints, "_shown", {})


def test_hints_come_one_by_one_and_then_all_again(capsys):
    said = []
    for _ in range(4):
        hint("u99.bytes")
        said.append(capsys.readouterr().out)
    assert said[0] == (
        "u99.bytes: hint 1 of 3 (a question)\n  How wide?\n"
        '  Run `hint("u99.bytes")` again for the idea.\n'
    )
    assert said[2] == "u99.bytes: hint 3 of 3 (almost the code)\n  6 * 4\n"
    assert [line[:4] for line in said[3].splitlines()[1:]] == ["  1.", "  2.", "  3."]


def test_hint_of_no_exercise_is_said_and_not_raised(capsys):
    hint("u99.byte")
    assert "Did you mean 'u99.bytes'?" in capsys.readouterr().out


def test_exercise_without_hints_says_so(capsys):
    assert ladder(slot("u99.until")) == ()
    hint("u99.until")
    assert capsys.readouterr().out == "u99.until has no hints.\n"


def test_a_hint_wraps_at_words_in_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    words = " ".join(ladder(slot("passes.dce"))[1].split())
    hint("passes.dce")
    hint("passes.dce")
    lines = capsys.readouterr().out.split("hint 2 of 3 (the idea)\n")[1].splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()).startswith(words)  # no word is cut


def test_a_hint_is_a_card_like_a_verdict_and_code_is_code_in_it(monkeypatch):
    shown = []
    monkeypatch.setattr(hints, "show", shown.append)
    monkeypatch.setattr(hints, "ladder", lambda entry: ("is `a < b`?", "``x `into` y``", "c"))
    hint("u99.bytes")
    page = shown[0]._repr_html_()
    assert '<section class="verdict hint" aria-label="u99.bytes: hint 1 of 3">' in page
    assert '<p class="title"><code>u99.bytes</code>: hint 1 of 3</p>' in page
    assert "<p>is <code>a &lt; b</code>?</p>" in page and STYLE in page
    hint("u99.bytes")
    assert "<code>x `into` y</code>" in shown[1]._repr_html_()


def test_no_hint_of_the_course_leaves_a_backtick_or_a_piece_of_one():
    texts = [
        text
        for source in sources(COURSE / "notebooks")
        for steps in ladders(source.key).values()
        for text in steps
    ]
    left = [text for text in texts if "`" in re.sub(r"<code>.*?</code>", "", inline(text))]
    assert len(texts) > 100 and left == []


def test_lines_of_a_hint_are_one_text(unit_of_hints):
    unit_of_hints(
        "## u97.a\n\n1. one\n   more\n2. `two`\n3. three\n\n## u97.b\n\n1. x\n2. y\n3. z\n"
    )
    assert ladders("u97") == {"u97.a": ("one more", "`two`", "three"), "u97.b": ("x", "y", "z")}


def test_a_ladder_has_three_steps(unit_of_hints):
    unit_of_hints("## u97.a\n\n1. one\n2. two\n")
    with pytest.raises(ValueError, match=r"u97\.a: a hint ladder has 3 steps, not 2"):
        ladders("u97")


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
