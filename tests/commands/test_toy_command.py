"""`python -m course_lib toy`: a program in, one of its levels out; refusals in words."""

import builtins
import json

import pytest

from course_lib.__main__ import main
from course_lib.commands.toy import MISSING, STAGES

SUM = "def main() { print([1, 2] + [3, 4]); }"


def ask(capsys, *words):
    status = main(["toy", *words, "--json"])
    captured = capsys.readouterr()
    return status, json.loads(captured.out.splitlines()[-1]) if status == 0 else {}, captured.err


def test_a_program_runs(capsys):
    pytest.importorskip("xdsl")
    status, data, _ = ask(capsys, "-c", SUM)
    assert (status, data["stage"], data["numbers"]) == (0, "run", [4.0, 6.0])


def test_every_stage_has_its_text(capsys):
    pytest.importorskip("xdsl")
    from course_lib.mlir.toy import stages

    assert stages.NAMES == STAGES
    said = dict(zip(STAGES, ("Binary +", "toy.add", "toy.add", "toy.add", "toy.add", "affine.for",
                             "scf.for", "cf.br", "fadd", "4.000000 6.000000"),
                    strict=True))  # fmt: skip
    for stage in STAGES:
        status, data, _ = ask(capsys, "-c", SUM, "--emit", stage)
        assert status == 0 and said[stage] in data["text"]


def test_single_passes_in_an_order_of_ones_own(capsys):
    pytest.importorskip("xdsl")
    _, data, _ = ask(capsys, "-c", SUM, "--passes", "infer_shapes")
    assert "-> tensor<2xf64>" in data["text"] and data["stage"] == "infer_shapes"
    status, _, said = ask(capsys, "-c", SUM, "--passes", "magic")
    assert status == 1 and "there is no pass 'magic'; there are inline, open_structs" in said


@pytest.mark.parametrize("words, said", [
    ((), "the program is a FILE, or a text behind -c"),
    (("a.toy", "-c", SUM), "the program is a FILE, or a text behind -c"),
    (("nowhere.toy",), "nowhere.toy"),
    (("-c", "def", "--emit", "ast"), "expected the name of a function, got the end of the text\n"
                                     "  at -c:1:4\n    def\n       ^"),
])  # fmt: skip
def test_what_is_wrong_is_said(capsys, words, said):
    status, _, error = ask(capsys, *words)
    assert status == 1 and said in error


def test_without_xdsl_the_tree_is_shown_and_the_rest_says_what_is_missing(capsys, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == "xdsl" or name == "course_lib.mlir.toy.module":
            raise ModuleNotFoundError("No module named 'xdsl'", name="xdsl")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert ask(capsys, "-c", SUM, "--emit", "ast")[0] == 0
    status, _, said = ask(capsys, "-c", SUM)
    assert status == 1 and MISSING["xdsl"] in said
