"""`python -m course_lib npu`: sizes or a program in, a stage of it or its clocks out."""

import builtins
import json

import pytest

from course_lib.__main__ import main
from course_lib.commands.npu import MISSING, STAGES

SIZES = ("-m", "9", "-k", "8", "-n", "5")


def ask(capsys, *words):
    status = main(["npu", *words, "--json"])
    captured = capsys.readouterr()
    return status, json.loads(captured.out.splitlines()[-1]) if status == 0 else {}, captured.err


def test_a_product_runs_and_is_compared(capsys):
    pytest.importorskip("xdsl")
    status, data, _ = ask(capsys, *SIZES, "--preset", "teaching", "--relu")
    assert status == 0 and data["clocks"] == data["systolic_clocks"] == 103
    assert data["commands"]["npu.matmul"] == 4
    assert data["bytes"] == data["least_bytes"] == {"x": 72, "w": 40, "params": 64, "y": 45}
    assert "9x8 times 8x5 on teaching" in data["text"] and "1.000" in data["text"]


def test_every_stage_has_its_text(capsys):
    pytest.importorskip("xdsl")
    from course_lib.mlir.npu import stages

    assert stages.NAMES == STAGES
    said = dict(zip(STAGES, ("linalg.matmul", "npu.product", "affine.for", "mod 2", "%x[5, 0]",
                             "npu.clear", "{overwrite}", "npu.buffer", "preload", "clocks"),
                    strict=True))  # fmt: skip
    for stage in STAGES:
        status, data, _ = ask(capsys, *SIZES, "--preset", "teaching", "--emit", stage)
        assert status == 0 and said[stage] in data["text"], stage


def test_a_file_single_passes_and_another_chip(capsys, tmp_path):
    pytest.importorskip("xdsl")
    _, data, _ = ask(capsys, *SIZES, "--set", "rows=4", "cols=4", "queue=2", "--emit", "product")
    file = tmp_path / "product.mlir"
    file.write_text(data["text"])
    assert '{preset = "npu", rows = 4 : i64, cols = 4 : i64, queue = 2 : i64}' in data["text"]
    _, data, _ = ask(capsys, str(file), "--passes", "tile,double_buffer")
    assert "affine.for" in data["text"] and data["stage"] == "tile,double_buffer"
    assert ask(capsys, str(file))[1]["clocks"] > 0
    slow = ask(capsys, *SIZES, "--preset", "teaching", "--without", "double_buffer,ahead")[1]
    assert slow["clocks"] > 103


@pytest.mark.parametrize("words, said", [
    ((), "the program is a FILE, or a product of sizes -m, -k and -n"),
    (("-m", "3", "-k", "4"), "the program is a FILE, or a product"),
    (("a.mlir", *SIZES), "the program is a FILE, or a product"),
    (("nowhere.mlir",), "nowhere.mlir"),
    (("-m", "0", "-k", "4", "-n", "5"), "sizes are at least 1, got (0, 4, 5)"),
    ((*SIZES, "--set", "rows"), "--set takes NAME=N"),
    ((*SIZES, "--set", "lanes=4"), "a chip has no lanes"),
    ((*SIZES, "--set", "rows=0"), "rows is a whole number >= 1"),
    ((*SIZES, "--passes", "magic"), "there is no pass 'magic'; there are to_product, tile"),
    ((*SIZES, "--without", "magic"), "there is no pass 'magic'"),
    (("-m", "3", "-k", "99999", "-n", "5"), "sizes are 1 to 65,535"),
    ((*SIZES, "--set", "accs=4", "acts=8", "weights=4"), "does not fit the chip"),
])  # fmt: skip
def test_what_is_wrong_is_said(capsys, words, said):
    pytest.importorskip("xdsl")
    status, _, error = ask(capsys, *words)
    assert status == 1 and said in error


def test_without_xdsl_it_says_what_is_missing(capsys, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == "xdsl" or name == "course_lib.mlir.npu.module":
            raise ModuleNotFoundError("No module named 'xdsl'", name="xdsl")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    status, _, said = ask(capsys, *SIZES)
    assert status == 1 and MISSING in said
