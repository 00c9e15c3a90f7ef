"""No release holds an answer: not under another name, and not as what something else stands on."""

from __future__ import annotations

import pytest

from autograder.edition import release as releasing
from autograder.edition.contents import COURSE, answers_left
from autograder.edition.leaks import leaked
from autograder.edition.release import release
from autograder.edition.solutions import without_answers
from autograder.edition.sources import sources

# As it once was: the stand-in calls what the answer calls, so that it stays.
SCAN = '''"""Registers."""
from course_lib.exercises import exercise


def short_lives(lives, registers):
    return _scan([live for live in lives if live.end - live.start <= 3], registers)


@exercise("machine.linear_scan", unit=6, points=4, baseline=short_lives)
def linear_scan(lives, registers: int) -> dict[str, int]:
    """Give registers to values."""
    return _scan(lives, registers)


def _scan(lives, registers):
    free, active, found = list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        for old in [one for one in active if one.end <= live.start]:
            active.remove(old)
            free.append(found[old.name])
        if free:
            found[live.name] = free.pop(0)
            active.append(live)
    return found
'''
# The same, by somebody who likes other names, documents everything and writes methods.
ELSEWHERE = '''
class Allocator:
    @staticmethod
    def run(values: list, count: int) -> dict:
        """One walk."""
        unused, alive, registers = list(range(count)), [], {}
        for value in sorted(values, key=lambda it: it.start):
            for ended in [it for it in alive if it.end <= value.start]:
                alive.remove(ended)
                unused.append(registers[ended.name])
            if unused:
                registers[value.name] = unused.pop(0)
                alive.append(value)
        return registers
'''


def held(*texts: str, unit: int) -> list[str]:
    """What students of a unit would get of these files."""
    files = {f"file{n}.py": (text, without_answers(text, unit)) for n, text in enumerate(texts)}
    return leaked(files, lambda path: unit)


@pytest.mark.parametrize("unit", [0, 6])
def test_what_a_stand_in_shares_with_the_answer_is_said(unit):
    (problem,) = held(SCAN, unit=unit)
    assert problem == "machine.linear_scan: half of it or more stands in file0.py (_scan)"
    assert held(SCAN, unit=7) == [], "a later release has the answer by design"


def test_the_answer_in_other_words_somewhere_else_is_said():
    alone = SCAN.replace("_scan([live for live in lives if live.end - live.start <= 3]", "dict(")
    alone = alone.replace("dict(, registers)", "{}")
    assert held(alone, unit=6) == []
    (problem,) = held(alone, ELSEWHERE, unit=6)
    assert problem.endswith("stands in file1.py (run)")
    assert held(alone, ELSEWHERE.replace("append(value)", "insert(0, value)"), unit=6) == []


def test_no_release_of_the_course_holds_an_answer_of_its_unit_or_a_later_one():
    for source in sources(COURSE / "notebooks"):
        assert answers_left(source.unit) == [], source.name


def test_a_release_that_would_give_an_answer_away_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(releasing, "answers_left", lambda unit: [f"u{unit:02d}.x: stands in y"])
    with pytest.raises(ValueError, match=r"u00_tour would give answers away. u00.x: stands in y"):
        release(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []
    assert release(tmp_path, 0, edition="instructor"), "that edition is for the teacher"
