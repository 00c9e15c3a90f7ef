"""Recordings are made again by one command, and are what the tools of today say.

python -m course_lib record u06 --check     ->   lessons/u06/llc.txt  llc 22.1.8  same
"""

import json
import sys
from collections import Counter

import pytest

from course_lib.__main__ import main
from course_lib.commands.infra import remaking
from course_lib.commands.infra.remaking import ROOT, about, every, outcome
from course_lib.maker import QUICK, in_rows, maker, maker_of, version_of
from course_lib.recorded import read

CROWDED = {"iree", "jax", "tvm"}  # they start threads, which a worker would keep
HEAD = "// tool: a tool 1.2\n// machine: any\n// date: 2026-11-23\n// how: like this\n"
TEXTS = "// ===== first\nsaid 1\n// ===== second\nsaid 2\n"


def path(file) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", every(), ids=path)
def test_a_recording_is_what_its_tool_makes(file, missing):
    """Those that take longer are for `python -m course_lib record --check`, and so is what depends
    on the machine."""
    kept = read(file)
    assert kept.by, f"{path(file)} says no maker, nor why there is none: docs/authoring.md"
    found = maker_of(kept.by)
    if found is None or found.seconds > QUICK or found.machine != "any":
        return
    if found.lacking:
        missing(found.lacking)
    apart = CROWDED.intersection(found.needs)
    assert (remaking._texts(kept.by) if apart else found()) == dict(kept.texts)


def test_most_recordings_have_a_maker():
    makers = [maker_of(read(file).by) for file in every()]
    kinds = Counter(
        "none" if one is None else "slow" if one.seconds > QUICK else "quick" for one in makers
    )
    assert kinds["none"] <= 12 and kinds["quick"] >= 30, kinds


# ── the command ──


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """One recording and its maker, `made.texts`, which says what `made.SAID` holds."""
    (tmp_path / "lessons").mkdir()
    (tmp_path / "made.py").write_text(
        "from course_lib.maker import maker\n"
        "@maker('a tool', 'course_lib')\n"
        "def texts():\n"
        "    return {'first': 'said 1', 'second': 'said 2'}\n"
        "@maker('a tool', 'no-such-program')\n"
        "def needs():\n"
        "    return {}\n"
        "@maker('a tool', 'course_lib', compared='all but numbers')\n"
        "def measured():\n"
        "    return {'first': 'said 5', 'second': 'said 6'}\n"
        "@maker('a tool', 'course_lib')\n"
        "def fails():\n"
        "    raise RuntimeError('it crashed')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "lessons" / "said.txt"
    sys.modules.pop("made", None)


@pytest.fixture
def at_once(monkeypatch):
    """Makers run here, not in a process of their own, which would import the course each time."""

    def texts(by):
        made = maker_of(by)
        assert made
        return made()

    monkeypatch.setattr(remaking, "_texts", texts)


def became(file, by, texts=TEXTS, **options) -> str:
    file.write_text(f"{HEAD}// by: {by}\n{texts}")
    return outcome(file, root=file.parent.parent, **options).became


@pytest.mark.usefixtures("at_once")
def test_what_is_the_same_is_not_written(checkout):
    assert became(checkout, "made:texts") == "same"
    assert read(checkout).date == "2026-11-23"


@pytest.mark.usefixtures("at_once")
def test_what_has_changed_is_written_with_version_and_date_and_how(checkout):
    assert became(checkout, "made:texts", TEXTS.replace("2", "3"), check=True) == "differs"
    assert read(checkout)["second"] == "said 3\n"
    assert became(checkout, "made:texts", TEXTS.replace("2", "3")) == "changed"
    now = read(checkout)
    assert now["second"] == "said 2\n" and now.date > "2026-11-23"
    assert now.tool == f"a tool {version_of('course_lib')}" and now.machine == "any"
    assert (now.how, now.by) == ("like this", "made:texts")


@pytest.mark.usefixtures("at_once")
def test_what_depends_on_the_machine_is_made_only_if_it_is_named(checkout):
    assert became(checkout, "made:measured") == "left"
    assert became(checkout, "made:measured", check=True, named=True) == "same"
    other = TEXTS.replace("said", "told")
    assert became(checkout, "made:measured", other, check=True, named=True) == "differs"
    assert became(checkout, "made:measured", named=True) == "changed"
    assert "processors" in read(checkout).machine


def test_what_cannot_be_made_is_listed_with_the_reason(checkout):
    for by, word in (
        ("made:needs", "it needs the program no-such-program"),
        ("no_such_module:texts", "no_such_module is not here"),
        ("a GPU that nobody has here", "a GPU that nobody has here"),
    ):
        assert became(checkout, by) == "lacking"
        assert about(checkout, checkout.parent.parent).word == word
    with pytest.raises(ValueError, match="by: made:nothing names no maker"):
        became(checkout, "made:nothing")


def test_a_maker_that_fails_loses_nothing(checkout):
    assert became(checkout, "made:fails") == "failed"
    assert read(checkout)["first"] == "said 1\n"


def test_the_command_names_what_it_made_and_what_it_left(capsys):
    assert main(["record", "u06/llvm_mca", "u12/scalesim", "--check", "--json"]) in (0, 1)
    rows = json.loads(capsys.readouterr().out)["recordings"]
    assert [row["name"] for row in rows] == ["lessons/u06/llvm_mca.txt", "lessons/u12/scalesim.txt"]
    assert rows[0]["became"] in ("same", "lacking") and rows[1]["became"] == "lacking"
    assert main(["record", "u99"]) == 1
    assert "'u99' is in the path of no recording" in capsys.readouterr().err
    assert main(["record", "--list"]) == 0
    assert "lessons.u06.wild:allocators_by_llc" in capsys.readouterr().out


def test_a_maker_compares_what_can_be_the_same():
    def of(compared):
        return maker("a tool", compared=compared)(dict).same

    texts = {"a": "[1, 2.5e-3]\n"}
    assert of("every character")(texts, dict(texts))
    assert not of("every character")(texts, {"a": "[1, 2.5e-4]\n"})
    assert of("all but numbers")(texts, {"a": "[7, 0.1]\n"})
    assert not of("all but numbers")(texts, {"a": "[7]\n"})
    assert of("names of texts")(texts, {"a": ""}) and not of("names of texts")(texts, {"b": ""})


def test_json_stands_in_rows():
    assert in_rows([[1, None], "é"]) == '[\n [1, null],\n "é"\n]\n'
    assert in_rows({1: (True, 2.5)}) == '{\n "1": [true, 2.5]\n}\n'
