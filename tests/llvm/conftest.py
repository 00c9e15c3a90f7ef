"""Machine code is tested as the processor at hand would run it, and as smaller ones would."""

import pytest

from course_lib.llvm.host import LEVELS, host_machine


@pytest.fixture(scope="module", params=["host", *LEVELS])
def cpu(request: pytest.FixtureRequest) -> str:
    try:
        host_machine(cpu=request.param)
    except ValueError as error:
        pytest.skip(str(error))
    return request.param
