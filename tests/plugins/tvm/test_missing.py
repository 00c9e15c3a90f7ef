"""Where TVM is not installed, its door says so; nothing else of the library needs it."""

import subprocess
import sys

import pytest

from course_lib.__main__ import main
from course_lib.accelerator.chip import PRESETS
from course_lib.ir.graph.build import relu, trace
from course_lib.plugins.tvm import package
from course_lib.plugins.tvm.door import plug


def test_without_tvm_the_door_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(package, "installed", lambda: False)
    package.package.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"needs the package apache-tvm: pip install 'course"):
            plug(trace(relu, "i8[4]"), [], PRESETS["teaching"])
        assert main(["plug", "mlp", "--into", "tvm"]) == 1
        assert "needs the package apache-tvm" in capsys.readouterr().err
    finally:
        package.package.cache_clear()


def test_the_door_imports_tvm_only_when_it_is_used():
    code = "import sys, course_lib.plugins.tvm.door, course_lib.plugins.tvm.models; "
    code += "print(any(name in sys.modules for name in ('tvm', 'torch', 'onnx')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
