"""What the tests of the backend need: its name, and that each begins without old graphs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("llvmlite")

import course_lib.plugins.torch  # noqa: E402, F401  # where it is not installed, "course" is known now


@pytest.fixture
def ours() -> Any:
    """torch.compile with our backend, on one thread."""
    torch.compiler.reset()
    torch.manual_seed(0)
    yield partial(torch.compile, backend="course")
    torch.compiler.reset()


@pytest.fixture
def same(ours) -> Callable[..., Any]:
    """same(model, x) runs the model compiled and as it is, and compares. What eager returned."""

    def run(model: Any, *inputs: Any, **settings: Any) -> Any:
        with torch.no_grad():
            want, got = model(*inputs), ours(model, **settings)(*inputs)
        close(got, want)
        return got

    return run


def close(got: Any, want: Any) -> None:
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
