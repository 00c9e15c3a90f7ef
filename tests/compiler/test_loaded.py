"""What is loaded: by `import course_lib`, and by a model that is compiled for the processor.

Counted in a fresh process. A room that is not needed is not there; a page that says how long an
import takes would be true of one machine, so modules are counted.
"""

import json
import subprocess
import sys

import pytest

NEVER = {"accelerator", "bridges", "commands", "draw", "machine", "mlir", "plugins", "tune"}
BEHIND_A_TARGET = {"llvm", "lower", "memory", "runtime", "schedule"}

COMPILE = """
from course_lib.ir.graph.build import relu, trace
course_lib.compile(trace(relu, "f32[8]"), target={target!r})
"""


def modules(code: str = "") -> list[str]:
    """Ours that a process has after `import course_lib` and this code."""
    end = "import json, sys; print(json.dumps([m for m in sys.modules if m[:10] == 'course_lib']))"
    command = [sys.executable, "-c", f"import course_lib\n{code}\n{end}"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def rooms(loaded: list[str]) -> set[str]:
    return {name.split(".")[1] for name in loaded if "." in name}


def test_importing_course_lib_loads_what_reads_a_graph_and_improves_it(table):
    loaded = modules()
    table("What is loaded", f"import course_lib: {len(loaded)} modules")
    assert not rooms(loaded) & (NEVER | BEHIND_A_TARGET)
    assert len(loaded) <= 95  # 219 before each target was a file of its own


@pytest.mark.parametrize(
    ("target", "most", "no"), [("cpu", 180, set()), ("interpreter", 115, {"llvm", "schedule"})]
)
def test_a_target_loads_its_own_rooms(table, target, most, no):
    loaded = modules(COMPILE.format(target=target))
    table("What is loaded", f'target="{target}": {len(loaded)} modules')
    assert not rooms(loaded) & (NEVER | no)
    others = {"cpu", "interpreter", "systolic"} - {target}
    assert not {f"course_lib.targets.{name}" for name in others} & set(loaded)
    assert len(loaded) <= most
