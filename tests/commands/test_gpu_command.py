"""`python -m course_lib gpu`: a kernel, its arguments in words, and what is shown of the run."""

import json
from pathlib import Path

import numpy as np
import pytest

import course_lib.gpu
from course_lib.__main__ import main

RECORDED = Path(course_lib.gpu.__file__).parent / "recorded"
COPY = str(RECORDED / "copy_stride2.ptx")
SIZES = ["--grid", "4", "--block", "256", "--arg"]
ARGUMENTS = ["recorded:f32:1024", "empty:f32:1024", "i32:1024"]


def run(capsys, *words):
    status = main(["gpu", *words])
    return status, capsys.readouterr()


def test_counters_have_the_names_of_the_profiler(capsys):
    status, said = run(capsys, COPY, *SIZES, *ARGUMENTS, "--json")
    data = json.loads(said.out.splitlines()[-1])
    assert status == 0 and data["entry"] == "copy_stride2"
    assert data["counters"]["global_load_requests"] == 4 * 8
    assert data["counters"]["global_load_sectors"] == 4 * 8 * 8
    assert data["counters"]["global_store_sectors"] == 4 * 8 * 4


def test_each_line_is_shown_with_its_counts(capsys):
    status, said = run(capsys, COPY, *SIZES, *ARGUMENTS, "--counters", "--races")
    (line,) = (row for row in said.out.splitlines() if "ld.global.f32" in row)
    assert status == 0 and line.split()[-5:-2] == ["100", "32", "8.00"]
    assert "no races" in said.out


def test_arrays_come_from_files_and_a_page_is_written(capsys, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(1024, dtype=np.float32))
    page = tmp_path / "page.html"
    arguments = [str(tmp_path / "x.npy"), "zeros:f32:1024", "i32:1024"]
    status, said = run(capsys, COPY, *SIZES, *arguments, "-o", str(page), "--json")
    first = json.loads(said.out.splitlines()[-1])["arrays"][1]["first"]
    assert status == 0 and first == [0, 2, 4, 6, 8, 10, 12, 14]
    assert "sectors a request" in page.read_text() and "copy_stride2" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["recorded:f32:1024"], "has 3 parameters, got 1 arguments"),
        (["x.npy", "zeros:f32:9", "i32:9"], "x.npy"),
        (["zeros:f99:9", "zeros:f32:9", "i32:9"], "there is no type 'f99'"),
        (["zeros:f32:9", "zeros:f32:-9", "i32:9"], "how many is a whole number"),
        (["zeros:f32:9", "zeros:f32:9", "i32:nine"], "'nine' is no number"),
        (["zeros:f32:9", "zeros:f32:9", "i64:9"], "has 4 bytes"),
        (["recorded:f32:1000", "zeros:f32:1024", "i32:1024"], "behind the end of copy_stride2"),
        (["empty:f32:1024", "zeros:f32:1024", "i32:1024"], "nothing has been written to"),
    ],
)
def test_what_does_not_fit_is_said(capsys, arguments, words):
    status, said = run(capsys, COPY, *SIZES, *arguments)
    assert status == 1 and words in said.err and "Traceback" not in said.err


def test_a_race_is_told_and_the_status_says_so(capsys, tmp_path):
    text = (RECORDED / "transpose_shared.ptx").read_text()
    kernel = tmp_path / "raced.ptx"
    kernel.write_text(text.replace("bar.sync", "// bar.sync"))
    status, said = run(capsys, str(kernel), "--grid", "2,2", "--block", "32,8", "--arg",
                       "recorded:f32:4096", "empty:f32:4096", "i32:64", "--races")  # fmt: skip
    assert status == 1 and "a race for byte" in said.out and "st.shared.f32" in said.out


def test_loads_are_merged_unless_they_are_to_be_left_alone(capsys):
    words = [str(RECORDED / "matmul_tile16.ptx"), "--grid", "1", "--block", "16,16", "--json"]
    words += ["--arg", "recorded:f32:256", "recorded:f32:256", "empty:f32:256", "i32:16"]
    counts = []
    for more in ([], ["--as-written"]):
        _, said = run(capsys, *words, *more)
        counts.append(json.loads(said.out.splitlines()[-1])["counters"])
    loads = [one["shared_load_instructions"] for one in counts]
    assert loads == [8 * 20, 8 * 32]
