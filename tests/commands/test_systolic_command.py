"""`python -m course_lib systolic`: exact numbers, their definition, and refusals in words."""

import json

import pytest

from course_lib.__main__ import main


def ask(capsys, words):
    status = main(["systolic", *words.split(), "--json"])
    captured = capsys.readouterr()
    return status, json.loads(captured.out.splitlines()[-1]), captured.err


@pytest.mark.parametrize(
    ("words", "cycles"),
    [
        ("", 10),
        ("--drain", 14),
        ("--preset scalesim --rows 4 --cols 4", 10),
        ("--preset teaching", 14),
        ("--dataflow ws", 14),
        ("--dataflow is --rows 2 --cols 2", 4 * 8),
        ("--dataflow ws --rows 2 --cols 2 --shadow", 3 * 4 + 4 + 4),
    ],
)
def test_cycles_of_4_x_4_x_4_by_definition(capsys, words, cycles):
    for level in (0, 1, 2):
        status, data, _ = ask(capsys, f"-m 4 -n 4 -k 4 --level {level} {words}")
        assert (status, data["cycles"], data["level"]) == (0, cycles, level)
        assert data["values"] == (
            "not computed at level 2" if level == 2 else "int32, equal to numpy's product"
        )
    assert data["utilization"] == 64 / (cycles * data["rows"] * data["cols"])


def test_scale_sims_report_says_one_less_and_is_a_field_of_its_own(capsys):
    _, data, _ = ask(capsys, "-m 197 -n 768 -k 768 --preset scalesim")
    assert (data["cycles"], data["reported_total"]) == (139_440, 139_439)
    assert data["definition"].startswith("F(T + R + C - 2) with T = k")
    assert data["sram_bytes"] == {"acts": 65536, "weights": 65536, "accs": 65536}
    assert "reported_total" not in ask(capsys, "-m 1 -n 1 -k 1")[1]
    assert "reported_total" not in ask(capsys, "-m 1 -n 1 -k 1 --preset scalesim --drain")[1]


def test_the_npu_hides_its_weight_loads_unless_told_otherwise(capsys):
    shape = "-m 197 -n 768 -k 768 --preset npu"
    assert ask(capsys, shape)[1]["cycles"] == 575 * 197 + 197 + 64 + 30
    assert ask(capsys, f"{shape} --no-shadow")[1]["cycles"] == 576 * (197 + 64 + 30)
    assert ask(capsys, f"{shape} --dataflow os")[1]["cycles"] == 168 * (768 + 64 + 30)


def test_reads_writes_and_bytes(capsys):
    _, data, _ = ask(capsys, "-m 8 -n 8 -k 8 --dataflow ws --weights 64 --acts 63")
    assert data["sram_reads"] == {"a": 128, "b": 64, "c": 64, "total": 256}
    assert data["sram_writes"] == {"a": 0, "b": 0, "c": 128, "total": 128}
    assert data["dram_bytes_read"] == {"a": 128, "b": 64, "c": 0, "total": 192}
    assert data["dram_bytes"] == 192 + 4 * 64


def test_the_text_says_the_same(capsys):
    assert main(["systolic", "-m", "197", "-n", "768", "-k", "768", "--preset", "scalesim"]) == 0
    text = capsys.readouterr().out
    assert "139,440 cycles, utilization 81.4%" in text and "report says 139,439" in text


def test_the_trace_is_written(capsys, tmp_path):
    path = tmp_path / "out.json"
    _, data, _ = ask(capsys, f"-m 8 -n 4 -k 8 --dataflow ws --trace {path}")
    drawn = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
    assert sum(event["dur"] for event in drawn) == data["cycles"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("-m 0 -n 1 -k 1", "m is a whole number of at least 1, got 0"),
        ("-m 1 -n 1 -k -3", "k is a whole number of at least 1, got -3"),
        ("-m 1 -n 1 -k 1 --rows 0", "a whole number of rows and columns, got 0"),
        ("-m 1 -n 1 -k 1 --shadow", "an output-stationary array has none"),
        ("-m 1 -n 1 -k 1 --dataflow ws --drain", "drain is a question of outputs that stay"),
        ("-m 1 -n 1 -k 1 --acts -1", "at least 0 bytes"),
        ("-m 100000 -n 100000 -k 100000 --level 0", "too many for level 0"),
        ("-m 100000 -n 100000 -k 100000 --level 1", "too many for level 1"),
        ("-m 100000 -n 100000 -k 100000 --trace /nowhere/t.json", "too many to draw"),
        ("-m 1 -n 1 -k 1 --trace /nowhere/t.json", "/nowhere"),
    ],
)
def test_nonsense_is_refused_in_words(capsys, words, why):
    status, data, err = ask(capsys, words)
    assert status == 1 and why in data["error"] and why in err


def test_what_is_no_number_or_no_dataflow_is_wrong_usage(capsys):
    for words in ("-m x -n 1 -k 1", "-m 1 -n 1", "-m 1 -n 1 -k 1 --dataflow rs"):
        with pytest.raises(SystemExit) as stop:
            main(["systolic", *words.split()])
        assert stop.value.code == 2
    assert "usage" in capsys.readouterr().err
