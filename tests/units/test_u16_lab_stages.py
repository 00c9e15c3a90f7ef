"""The lab of unit 16: its header is TVM's, and its text and rubric say what the recordings say."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from autograder.edition.contents import COURSE
from course_lib.bridges import freestanding
from course_lib.bridges.firmware import SMALL
from course_lib.bridges.gxx import apart
from course_lib.exercises import slot
from course_lib.peers.align.rows import rows
from lessons.u16_lab_stages import logs, shown
from lessons.u16_lab_stages.dumps import DUMPS, ptx_by_line
from lessons.u16_lab_stages.logs import LOGS

OURS = {name: slot(f"u16_lab_stages.{name}").reference for name in ("found", "winner", "runner")}
TEXT = " ".join((COURSE / "notebooks/u16_lab_stages.md").read_text("utf-8").split())
FIELDS = {"DLTensor": "data device ndim dtype shape strides byte_offset",
          "TVMFFIAny": "type_index zero_padding v_int64 v_float64 v_ptr"}  # fmt: skip


def layout(head: str, *flags: str) -> list[int]:
    """The sizes of the structures of a header, and where their fields lie."""
    wanted = [f"sizeof({name})" for name in FIELDS]
    wanted += [f"offsetof({name}, {field})" for name, text in FIELDS.items()
               for field in text.split()]  # fmt: skip
    body = "".join(f"  o[{k}] = {one};\n" for k, one in enumerate(wanted))
    text = f"#include <stddef.h>\n{head}\nint64_t layout(int64_t *o) {{\n{body}  return 0;\n}}\n"
    found = np.zeros(len(wanted), np.int64)
    apart(text, "layout", ("-x", "c", "-std=gnu11", *flags))(found)
    return found.tolist()


def test_the_structures_of_small_h_are_those_of_tvm(require_tool, tvm):
    require_tool("g++")
    (include,) = importlib.import_module("tvm_ffi").__path__
    theirs = layout("#include <tvm/ffi/c_api.h>", f"-I{Path(include)}/include")
    assert layout(SMALL) == theirs


def test_how_much_faster_the_layers_became():
    ratios = sorted(OURS["winner"](log)["ratio"] for log in LOGS.values())
    assert f"{ratios[0]:.0f} to {ratios[-1]:.0f} times as fast as plain loops" in TEXT
    assert {len(log["trials"]) for log in LOGS.values()} == {24} and "its 24 schedules" in TEXT


def test_which_stages_have_a_softmax_as_one_operation():
    whole = [stage for stage, text in DUMPS["both"].items()
             if [] in OURS["found"](rows(text)).values()]  # fmt: skip
    assert whole == ["Flow", "Relax"]
    counts = {line: kinds.total() for line, kinds in ptx_by_line().items()}
    assert max(counts, key=lambda line: counts[line]) == 10


def test_the_rubric_has_the_bytes_of_the_network():
    network, criteria = shown.NETWORK, slot("u16_lab_stages.fates").reference().criteria
    weights = 4 * sum(network.size(name) for name in network.weights)
    ends = 4 * (network.size(network.input) + network.size(network.output))
    for number in (4 * network.numbers, network.workspace, weights, ends):
        assert f"{number:,}" in criteria


def test_without_clang_the_sections_are_recorded(monkeypatch, capsys):
    monkeypatch.setattr(freestanding, "lacking", lambda: "clang-22 not found")
    assert "errors kept" in str(shown.firmware_table("int x;")) and shown.beside_weights("") > 1000
    assert "errors kept" not in str(shown.firmware_table(""))
    assert "recorded with" in capsys.readouterr().out


def test_without_tvm_the_search_is_the_recorded_one(monkeypatch, capsys):
    monkeypatch.setattr(logs, "lacking", lambda peer: "TVM is not installed.")
    assert logs.search.__wrapped__("dense") is LOGS["dense"]
    assert "recorded with" in capsys.readouterr().out


def test_a_freestanding_object_says_what_is_missing(require_tool):
    for tool in ("clang-22", "llvm-nm-22", "llvm-size-22"):
        require_tool(tool)
    made = freestanding.looked_at("float expf(float x);\nfloat f(float x) { return expf(x); }\n"
                                  "int a[8]; int b[2] = {1, 2};\n")  # fmt: skip
    assert made.undefined == ["expf"] and (made.data, made.bss) == (8, 32) and made.text > 0
    with pytest.raises(ValueError, match="says"):
        freestanding.looked_at("float f(")
