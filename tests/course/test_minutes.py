"""The minutes that a unit is said to take: an estimate, fitted to what outsiders estimated."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.edition.contents import COURSE
from autograder.edition.facts import minutes_table, page_of
from autograder.edition.minutes import BEGINNING, Section, Task, about, core, estimate, further
from autograder.edition.parsed import parsed
from autograder.edition.sources import Source, expand, sources
from course_lib.exercises import load_all, slot, slots

UNITS = sources(COURSE / "notebooks")
# Of the core of each unit as it was when outsiders estimated its minutes (the second figure): the
# words, the visible lines of code and the outputs; then of each exercise its kind, the words of its
# text / the lines of our answer.
KINDS = {
    "i": "implement", "n": "number", "e": "evidence", "v": "inverse", "b": "budget", "x": "explain",
}  # fmt: skip
# fmt: off
FIRST_EDITION = [
    (0, 125, 3417, 64, 27, "n73/3 x67/0 e224/3 i106/5 v64/3"),
    (1, 150, 2312, 78, 18, "i163/13 i202/38 x51/0 e107/8 i195/19"),
    (2, 155, 2406, 40, 26, "i194/6 i210/19 i243/15 v64/17 x61/0 i185/27"),
    (3, 146, 2560, 22, 22, "n82/4 i175/23 x76/0 i194/18 b176/10"),
    (4, 155, 3267, 61, 28, "i209/12 i140/21 e54/1 b132/20 x51/0 n86/8"),
    (5, 165, 2743, 66, 24, "n32/2 v97/25 e35/8 i160/75 i162/22 x72/0"),
    (6, 175, 2650, 47, 19, "i145/17 i173/17 n108/3 b162/26 x62/0 e118/1"),
    (7, 176, 3973, 79, 23, "n124/10 i135/12 n76/3 b130/10 n89/7 x101/0"),
    (8, 180, 2868, 58, 26, "e114/2 i87/11 i133/5 i143/8 b114/8 x92/0"),
    (9, 150, 2939, 39, 20, "n84/11 i178/12 v97/3 b122/8 n86/4 x73/0"),
    (10, 170, 2352, 60, 22, "e84/1 i91/20 i96/23 i89/14 i79/7 x91/0"),
    (11, 160, 2620, 48, 22, "i125/23 n131/4 i149/31 i124/15 v63/13 x77/0"),
    (12, 132, 2403, 35, 18, "i152/4 e116/10 n173/4 e82/8 b75/5 x82/0"),
    (13, 150, 2722, 47, 26, "i90/8 i148/12 e138/9 i181/14 b108/45 x75/0"),
    (14, 140, 2426, 28, 27, "i96/4 v54/6 i106/16 n115/5 b90/15 x95/0"),
    (17, 135, 2164, 50, 15, "e88/1 i79/9 b92/22 i155/30 i103/14 x74/0"),
]
# fmt: on


def section_of(words: int, lines: int, outputs: int, tasks: str) -> Section:
    parts = ((KINDS[task[0]], *map(int, task[1:].split("/"))) for task in tasks.split())
    asked = [Task("", kind, text, answer) for kind, text, answer in parts]
    return Section("", False, words, lines, outputs, asked)


@pytest.mark.parametrize("row", FIRST_EDITION, ids=lambda row: f"u{row[0]:02d}")
def test_the_estimate_is_near_the_one_from_outside(row):
    _, outside, *counts = row
    assert core([section_of(*counts)]) == pytest.approx(outside, rel=0.15)


SMALL = """\
# A unit

Nine words stand here, if a link is two: [a link](to/there).

```{code-cell} ipython3
:tags: [hide-input]

import numpy
callout("then and now", "Six words that are read, too")
```

## 1 · The first part

```
two lines
of a listing
```

```{code-cell} ipython3
%%needs passes.dce
# not counted

total = 1 + 1
total
```

```{code-cell} ipython3
predict("u99.nodes", ..., unit="nodes")
```

```{code-cell} ipython3
%exercise passes.dce
```

## Further: more of it

```{code-cell} ipython3
:tags: [hide-input]

for k in range(3):
    print(k)
```

### Below it

```{code-cell} ipython3
%exercise passes.cse
```

## Where to read on

Two words
"""


def test_what_is_counted():
    begin, first, more, last = estimate(parsed(SMALL).cells)
    assert (begin.title, begin.words, begin.lines, begin.outputs) == (BEGINNING, 22, 0, 0)
    assert (first.title, first.words, first.lines, first.outputs) == ("1 · The first part", 4, 5, 1)
    assert [task.name for task in first.tasks] == ["passes.dce"]
    assert (more.lines, more.outputs, more.further) == (0, 1, True)
    assert last.further and last.reading == pytest.approx(6 / 200)
    assert core([begin, first, more]) == begin.minutes + first.minutes
    assert further([begin, first, more, last]) == more.minutes + last.minutes


def test_more_of_anything_takes_longer():
    small = section_of(100, 5, 1, "i80/4")
    for more in ((200, 5, 1, "i80/4"), (100, 9, 1, "i80/4"),
                 (100, 5, 2, "i80/4"), (100, 5, 1, "i90/4"),
                 (100, 5, 1, "i80/9"), (100, 5, 1, "i80/4 n9/1")):  # fmt: skip
        assert section_of(*more).minutes > small.minutes


def test_every_kind_of_exercise_has_its_minutes():
    load_all()
    for entry in slots():
        assert Task(entry.name, entry.kind, 0, 0).minutes > 5


@pytest.mark.parametrize("solutions", [False, True])
@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_a_notebook_says_its_estimate_and_that_nobody_was_timed(source, solutions):
    cells = expand(source, solutions=solutions).cells
    text = " ".join(" ".join(cell.source for cell in cells).split())
    assert "%core-minutes" not in text and "%further-minutes" not in text
    assert f"about {about(core(estimate(source.cells())))} minutes" in text
    assert "nobody has been timed" in text


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_a_core_takes_two_hours_at_most(source):
    assert core(estimate(source.cells())) <= 120


def test_a_text_without_minutes_stays_as_it_is(tmp_path: Path):
    assert Source(tmp_path / "u99_none.md").with_minutes("100 %core") == "100 %core"


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_the_teachers_page_has_the_same_minutes(source):
    table = minutes_table(source)
    sections = estimate(source.cells())
    assert f"About {about(core(sections))} minutes for the core" in table
    asked = [task.name for section in sections for task in section.tasks]
    assert asked == source.exercises()
    for name in asked:
        assert f"`{name}` " in table
    assert f"## Minutes\n\n{table}" in page_of(source, COURSE / "docs" / "units")


def test_the_command_prints_them(capsys):
    assert main(["minutes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[1:-1]] == [source.name for source in UNITS]
    assert main(["minutes", "--unit", "0"]) == 0
    assert minutes_table(UNITS[0]) in capsys.readouterr().out
    assert main(["minutes", "--unit", "77"]) == 1
    assert slot(UNITS[0].exercises()[0]).unit == 0
