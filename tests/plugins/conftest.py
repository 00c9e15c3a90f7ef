"""TVM, for the tests of its door."""

from typing import Any

import pytest

from course_lib.plugins.tvm.package import installed, package


@pytest.fixture(scope="session")
def tvm(missing) -> Any:
    """The package; without it, the test ends with a reason."""
    return package() if installed() else missing("apache-tvm")
