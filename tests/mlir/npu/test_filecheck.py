"""The tests of the folder filecheck/, as MLIR's community writes them: a program, RUN lines, CHECK
lines. Each RUN line is carried out here in this process, which saves it two starts of Python:

    // RUN: not %npu %s --emit tile 2>&1 | %filecheck %s

`lit tests/mlir/npu/filecheck` does the same with processes; one test tries that it does.
"""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.__main__ import main

pytest.importorskip("xdsl")
filecheck = pytest.importorskip("filecheck.matcher")

FOLDER = Path(__file__).parent / "filecheck"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix == ".mlir")
LINE = re.compile(r"RUN: (?P<no>not )?%npu %s(?P<npu>[^|]*?)(2>&1 )?\| %filecheck %s(?P<check>.*)")


def outputs(path: Path) -> list[tuple[str, list[str]]]:
    """For each RUN line of a file what the command writes, and the options of filecheck."""
    text = path.read_text()
    found = list(LINE.finditer(text))
    assert len(found) == text.count("RUN:") > 0
    written = []
    for run in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main(["npu", str(path), *run["npu"].split()])
        assert bool(status) == bool(run["no"]), out.getvalue()
        written.append((out.getvalue(), run["check"].split()))
    return written


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_its_checks_expect(name, tmp_path, capsys):
    from filecheck.options import parse_argv_options

    for text, options in outputs(FOLDER / name):
        (tmp_path / "out").write_text(text)
        arguments = ["filecheck", str(FOLDER / name), "--input-file", str(tmp_path / "out")]
        matcher = filecheck.Matcher.from_opts(parse_argv_options([*arguments, *options]))
        assert matcher.run() == 0, capsys.readouterr()


@pytest.mark.parametrize("name", FILES)
def test_llvms_own_filecheck_agrees(name, require_tool):
    program = require_tool("FileCheck-22")
    for text, options in outputs(FOLDER / name):
        command = [program, str(FOLDER / name), *options]
        done = subprocess.run(command, input=text, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_a_planted_bug_is_caught(tmp_path, monkeypatch, capsys):
    """Slots that never change: the values stay right, and only the text shows it."""
    from filecheck.options import parse_argv_options
    from xdsl.ir.affine import AffineExpr

    from course_lib.mlir.npu import double_buffer

    monkeypatch.setattr(double_buffer, "_number", lambda loops: AffineExpr.constant(0))
    _, (text, options) = outputs(FOLDER / "deep.mlir")
    (tmp_path / "out").write_text(text)
    arguments = ["filecheck", str(FOLDER / "deep.mlir"), "--input-file", str(tmp_path / "out")]
    assert filecheck.Matcher.from_opts(parse_argv_options([*arguments, *options])).run() == 1
    assert "affine.apply" in capsys.readouterr().err


def test_lit_runs_the_folder(tmp_path, missing):
    program = Path(sys.executable).with_name("lit")
    if not program.exists():
        missing("lit")
    command = [program, "-v", "--param", f"out={tmp_path}", "--filter", "keep", FOLDER]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "PASS: NPU :: keep.mlir" in done.stdout
