"""The tests of the folder filecheck/, as MLIR's community writes them: a program, RUN lines, CHECK
lines. Each RUN line is carried out here in this process, which saves it two starts of Python:

    # RUN: not %toy %s --emit shapes 2>&1 | %filecheck %s

`lit tests/mlir/toy/filecheck` does the same with processes; one test tries that it does.
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
pytest.importorskip("llvmlite")
filecheck = pytest.importorskip("filecheck.matcher")

FOLDER = Path(__file__).parent / "filecheck"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix in (".toy", ".mlir"))
LINE = re.compile(r"RUN: (?P<no>not )?%toy %s(?P<toy>[^|]*?)(2>&1 )?\| %filecheck %s(?P<check>.*)")


def outputs(path: Path) -> list[tuple[str, list[str]]]:
    """For each RUN line of a file what the command writes, and the options of filecheck."""
    text = path.read_text()
    found = list(LINE.finditer(text))
    assert len(found) == text.count("RUN:") > 0
    written = []
    for run in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main(["toy", str(path), *run["toy"].split()])
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
    """A transpose that does not transpose: the checks of the loops notice it."""
    from filecheck.options import parse_argv_options

    from course_lib.mlir.toy import affine

    def wrong(self, op):
        source = self.memory[op.input]
        return lambda builder, indices: builder.insert(affine.affine.LoadOp(source, indices)).result

    monkeypatch.setattr(affine._Lowering, "transposed", wrong)
    ((text, _),) = outputs(FOLDER / "affine.mlir")
    (tmp_path / "out").write_text(text)
    arguments = ["filecheck", str(FOLDER / "affine.mlir"), "--input-file", str(tmp_path / "out")]
    assert filecheck.Matcher.from_opts(parse_argv_options(arguments)).run() == 1
    assert "affine.load" in capsys.readouterr().err


def test_lit_runs_the_folder(tmp_path, missing):
    program = Path(sys.executable).with_name("lit")
    if not program.exists():
        missing("lit")
    command = [program, "-v", "--param", f"out={tmp_path}", "--filter", "jit", FOLDER]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "PASS: Toy :: jit.toy" in done.stdout
