"""An outside witness: LLVM's own MLIR reads our loops and our blocks, lowers them, runs them."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.toy_interp import run

pytest.importorskip("xdsl")

from course_lib.mlir.toy.stages import compile_toy

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def torch_mlir(missing):
    if importlib.util.find_spec("torch_mlir") is None:
        missing("torch-mlir")


CUBE = """
  def flat(a) { var b<24> = a; return b + b; }
  def main() {
    var a = [[[1, 2, 3, 4], [5, 6, 7, 8], [9, 1, 2, 3]],
             [[4, 5, 6, 7], [8, 9, 1, 2], [3, 4, 5, 6]]];
    var t = transpose(a);
    print(t * t); print(flat(t)); print(2.5);
  }"""


def test_upstream_prints_what_numpy_computes():
    programs = {path.name: path.read_text() for path in HERE.glob("filecheck/*.toy")}
    programs = {name: text for name, text in programs.items() if "not %toy" not in text}
    programs["a cube"] = CUBE
    given, wanted = {}, {}
    for name, text in programs.items():
        compiled = compile_toy(text, until="cf")
        for stage in ("scf", "cf"):
            given[f"{name} {stage}"] = compiled.text(stage)
            wanted[f"{name} {stage}"] = [float(n) for a in run(parse(text)) for n in a.flat]
    command = [sys.executable, HERE / "upstream.py"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == wanted
    assert len(wanted["a cube cf"]) == 24 + 24 + 1
