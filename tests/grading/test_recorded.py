"""What other tools said: one format with tool, machine and date, which is shown with it.

// tool: llc 22.1.8 ...   ->   "recorded with llc 22.1.8 (any machine, 2026-11-23)"
"""

import re

import pytest

from course_lib.recorded import recorded

HEAD = "// tool: a tool 1.2\n// machine: any\n// date: 2026-11-23\n"
TEXTS = "// ===== first\none\n\n// ===== second: part\n[1, 2]\n// ===== nothing\n"


def read(folder, text: str):
    (folder / "said.txt").write_text(text)
    recorded.cache_clear()
    return recorded(str(folder / "module.py"), "said.txt")


def test_texts_come_back_as_they_stand(tmp_path):
    found = read(tmp_path, HEAD + "// how: like this\n// how: or that\n" + TEXTS)
    assert list(found.texts) == ["first", "second: part", "nothing"]
    assert found["first"] == "one\n\n" and found["nothing"] == ""
    assert found.data("second: part") == [1, 2]
    assert found.words == "recorded with a tool 1.2 (any machine, 2026-11-23)"
    assert found.version == "1.2" and found.how == "like this\nor that"


def test_a_machine_is_named_where_it_matters(tmp_path):
    found = read(tmp_path, HEAD.replace("any", "a Xeon") + TEXTS)
    assert found.words == "recorded with a tool 1.2 (a Xeon, 2026-11-23)"
    with pytest.raises(ValueError, match="nothing is recorded as 'third', but first, second"):
        found["third"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD.replace("// date: 2026-11-23\n", ""), "does not say of which date"),
        (HEAD.replace("2026-11-23", "last week"), "a date is written 2026-11-23, got 'last week'"),
        (HEAD + "// mood: good\n", "begins with lines // KEY: ... of .*got '// mood: good'"),
        (HEAD + TEXTS + TEXTS, "two texts have one name"),
    ],
)
def test_a_file_that_says_less_is_refused(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        read(tmp_path, text)


def test_every_recording_of_a_unit_says_what_it_is_of(root):
    files = sorted((root / "lessons").glob("u*/*.txt"))
    assert len(files) > 20
    for file in files:
        found = recorded(str(file), file.name)
        assert found.texts and re.search(r"\d", found.tool), f"{file}: which version?"


def test_no_unit_says_by_itself_that_something_is_recorded(root):
    """The words come from the file, with machine and date."""
    for file in (root / "lessons").glob("u*/*.py"):
        assert not re.search(r'"[^"\n]*recorded with \w', file.read_text()), file
