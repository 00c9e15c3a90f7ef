"""`python -m course_lib bench`: names of systems, files, and what is refused before it begins."""

import json
import shlex

import pytest

from course_lib.__main__ import main
from course_lib.commands import bench
from course_lib.commands.infra.room import parser
from course_lib.peers.peer import PEERS


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("course,mnn", ("course", "mnn")),
        ("torch.compile+freezing,mnn", ("torch.compile+freezing", "mnn")),
        ("course, course+winograd,course", ("course", "course+winograd")),
        ("all", tuple(PEERS)),
    ],
)
def test_names_stand_between_commas(words, names):
    assert bench.systems(words) == names
    assert bench.systems(",".join(names)) == names


def test_a_name_needs_no_quotes_in_a_shell():
    assert all(shlex.quote(name) == name and "," not in name for name in PEERS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--systems", "course,gcc"], "there is no system 'gcc'; the systems are course, "),
        (["--systems", "course,Winograd"], "no system 'Winograd'; did you mean 'course+winograd'?"),
        (["--systems", "onnxruntme"], "did you mean 'onnxruntime'?"),
        (["--threads", "0"], "a whole number of at least 1"),
        (["--seconds", "-1"], "a number of seconds above 0"),
    ],
)
def test_wrong_options_are_answered_in_words(capsys, words, said):
    with pytest.raises(SystemExit) as left:
        main(["bench", "mlp", *words])
    assert left.value.code == 2 and said in capsys.readouterr().err


def test_what_cannot_be_done_is_said_before_anything_is_measured(capsys, tmp_path):
    for words, said in (
        (["--threads", "1,99999"], "each thread gets a processor of its own"),
        (["--html", str(tmp_path)], "cannot be written"),
        (["--json", str(tmp_path / "no" / "file")], "cannot be written"),
    ):
        assert main(["bench", "mlp", *words]) == 1
        assert said in capsys.readouterr().err


def test_json_is_a_flag_or_a_file():
    given = parser("bench").parse_args(["bench", "mlp", "--json"])
    assert given.json is True
    assert parser("bench").parse_args(["bench", "mlp", "--json", "f"]).json == "f"


def test_the_report_is_shown_and_written(capsys, tmp_path):
    figures, page = tmp_path / "mlp.json", tmp_path / "mlp.html"
    status = main(["bench", "mlp", "--systems", "course,onnxruntime", "--seconds", "0.05",
                   "--rounds", "5", "--json", str(figures), "--html", str(page)])  # fmt: skip
    said = capsys.readouterr().out
    assert status == 0, said
    found = json.loads(figures.read_text())
    assert [row["system"] for row in found["rows"]] == ["course", "onnxruntime"]
    assert all(row["ms"] > 0 and row["error"] < 1e-5 for row in found["rows"])
    assert found["right"] == "PyTorch in float64" and found["command"] in said
    assert "<svg" in page.read_text() and f"written to {page}" in said
    assert not list(tmp_path.glob(".*"))
