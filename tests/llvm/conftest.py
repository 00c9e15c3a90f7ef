"""Machine code is tested as the processor at hand would run it, and as smaller ones would."""

import llvmlite.binding
import pytest

from course_lib.llvm.host import LEVELS


@pytest.fixture(scope="session")
def runnable() -> list[str]:
    """The levels of x86-64 that this machine has."""
    if not llvmlite.binding.get_process_triple().startswith("x86_64"):
        return []
    present = llvmlite.binding.get_host_cpu_features()
    return [level for level, needed in LEVELS.items() if all(present.get(n) for n in needed)]


@pytest.fixture(scope="module", params=["host", *LEVELS])
def cpu(request: pytest.FixtureRequest, runnable: list[str]) -> str:
    if request.param not in ("host", *runnable):
        pytest.skip(f"this machine lacks {request.param}")
    return request.param
