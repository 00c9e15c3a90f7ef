"""A process that answers requests, and how it ended, in words."""

import os
import sys
import time

import pytest

from course_lib.measure.apart import HANGS, Apart, Ended, ended

ECHO = """
import os, sys
from course_lib.measure.apart import answer_all, end_after

def answer(request, say):
    print("not an answer")
    say({"began": request["word"]})
    if request["word"] == "end":
        os._exit(7)
    if request["word"] == "spin":
        end_after(0.2)
        while True:
            pass
    if request["word"] == "sleep":
        sys.stdin.read()
    return {"word": request["word"]}

def main():
    answer_all(answer)
"""


@pytest.fixture
def echo(tmp_path, monkeypatch):
    (tmp_path / "an_echo.py").write_text(ECHO)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    apart = Apart("an_echo")
    yield apart
    apart.stop()


def said(echo: Apart, word: str, patience: float = 60.0) -> list:
    heard = []
    for one in echo.ask({"word": word}, patience):
        heard.append(one)
        if "word" in one:
            break
    return heard


def test_one_process_answers_request_after_request(echo):
    assert said(echo, "a") == [{"began": "a"}, {"word": "a"}]
    process = echo.process
    assert said(echo, "b") == [{"began": "b"}, {"word": "b"}] and echo.process is process


@pytest.mark.parametrize(
    ("word", "patience", "why"),
    [("end", 60.0, "failed: the process ended with status 7"), ("spin", 60.0, HANGS),
     ("sleep", 0.5, HANGS)],
)  # fmt: skip
def test_how_it_ended_is_said_and_the_next_one_answers(echo, word, patience, why):
    with pytest.raises(Ended) as left:
        said(echo, word, patience)
    assert str(left.value) == why
    echo.stop()
    assert said(echo, "again")[-1] == {"word": "again"}


def test_nothing_is_left_of_a_process_that_was_stopped(echo):
    said(echo, "a")
    number = echo.process.pid
    echo.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    assert ended(-11) == "crashed: SIGSEGV"
    assert "runs out of memory" in ended(-9)


def test_what_it_has_beside_this_process_is_there_before_it_imports_anything(
    echo, tmp_path, monkeypatch
):
    about = "import os\nFOUND = [os.environ['A_WORD'], sorted(os.sched_getaffinity(0))]\n"
    (tmp_path / "about.py").write_text(about + ECHO.replace('"word": request["word"]}\n\n',
                                                            '"word": FOUND}\n\n'))  # fmt: skip
    core = min(os.sched_getaffinity(0))
    errors = tmp_path / "errors.txt"
    apart = Apart("about", {"A_WORD": "said"}, [core], str(errors))
    try:
        assert said(apart, "a")[-1] == {"word": ["said", [core]]}
    finally:
        apart.stop()
    assert "not an answer" in errors.read_text()


def test_what_it_has_started_ends_with_it(tmp_path, monkeypatch):
    start = "import subprocess\n" + ECHO.replace(
        'print("not an answer")', 'child = subprocess.Popen(["sleep", "60"])'
    ).replace('"word": request["word"]}\n\n', '"word": child.pid}\n\n')
    (tmp_path / "parents.py").write_text(start)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    apart = Apart("parents")
    number = said(apart, "a")[-1]["word"]
    apart.stop()
    for _ in range(500):  # whoever inherits it has to notice
        if not alive(number):
            break
        time.sleep(0.01)
    assert not alive(number)


def alive(number: int) -> bool:
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
