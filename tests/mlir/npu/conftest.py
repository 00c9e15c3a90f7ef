"""What the tests of the NPU dialect share: the dialect in C++, compiled once."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def plugin(once, require_tool, missing):
    """The path of the plugin that mlir-opt-22 loads."""
    pytest.importorskip("xdsl")
    from course_lib.mlir.npu.ods.build import TOOLS, build, headers

    for name in TOOLS:
        require_tool(name)
    try:
        headers()
    except ValueError:
        missing("libmlir-22-dev")
    return once("npu-plugin", build) / "npu.so"


@pytest.fixture(scope="session")
def refused(plugin):
    """refused(text) is what mlir-opt says about a module of the dialect; empty if it takes it."""

    def ask(text: str, *options: str) -> str:
        command = ["mlir-opt-22", f"--load-dialect-plugin={plugin}", *options, "-o", "/dev/null"]
        done = subprocess.run(command, input=text, text=True, capture_output=True)
        assert done.returncode in (0, 1), done.stderr
        return done.stderr if done.returncode else ""

    return ask
