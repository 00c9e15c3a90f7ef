"""What makes the lab's recordings again: Inductor's C++ for any processor, and times.

Next room: shown.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from course_lib.maker import in_rows, maker
from lessons.u15_lab_block.measured import measure
from lessons.u15_lab_block.text import SHAPES, program, written


def for_avx512(function: Callable[..., Any], *inputs: Any) -> str:
    """What Inductor writes for a processor with AVX-512, on any processor."""
    from torch._inductor import cpu_vec_isa  # torch takes seconds to import

    wide = mock.patch.object(cpu_vec_isa, "pick_vec_isa", cpu_vec_isa.VecAVX512)
    with wide:
        return written(function, *inputs, **{"cpp.vec_isa_ok": True})


@maker("PyTorch", "torch", "g++", seconds=5)
def by_inductor() -> dict[str, str]:
    """Both programs, for AVX-512 and two threads."""
    return {name: for_avx512(*program(name)) for name in SHAPES}


@maker("PyTorch", "torch", "g++", compared="names of texts", seconds=40)
def times_of_both() -> dict[str, str]:
    """Both programs, measured once."""
    found = {name: measure(name) for name in SHAPES}
    return {"rounds": in_rows({k: [one.eager, one.compiled] for k, one in found.items() if one})}
