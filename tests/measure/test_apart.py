"""A process that answers requests, and how it ended, in words."""

import os
import sys

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
