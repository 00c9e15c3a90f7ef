"""What makes the recordings of unit 10 again: MLIR's passes, and Inductor's kernels.

Next room: autograder/units/u10/checks.
"""

from __future__ import annotations

import re

from course_lib.maker import maker
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import Pipeline
from lessons.u10 import recorded
from lessons.u10.native import SIZE
from lessons.u10.program import LOOPS, OWN, SCALREP, TWICE


@maker("torch-mlir", "torch_mlir")
def pages() -> dict[str, str]:
    """Every state of TWICE; the first of OWN, and the one in which a wrong pass would show; and of
    those with affine loops also what xDSL can run."""
    texts = {}
    for name, given, kept in (("TWICE", TWICE, None), ("OWN", OWN, ("", SCALREP))):
        for state in passed(given, LOOPS, "torch-mlir").states:
            if kept is None or state.passes in kept:
                texts[f"{name}: {state.passes}".strip()] = _for_both(tidy(state.text))
    return texts


def _for_both(text: str) -> str:
    """A text, and behind it the one that xDSL can run, if it is another one."""
    if "affine." not in text:
        return text
    lowered = passed(text, Pipeline("lowered", (("lower-affine", ""),)), "torch-mlir")
    return text + recorded.ALSO + tidy(lowered.states[-1].text)


def tidy(text: str) -> str:
    """Without spaces at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.strip().splitlines())


@maker("PyTorch", "torch", "g++", seconds=3)
def kernels_by_inductor() -> dict[str, str]:
    """The kernels of (a.T * b.T).T, whose result is compared with a * b."""
    import torch
    from torch._inductor.utils import run_and_get_code

    a, b = torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)
    result, (code, *_) = run_and_get_code(torch.compile(lambda a, b: (a.T * b.T).T), a, b)
    assert torch.equal(result, a * b)
    return {"kernels": " ".join(sorted(set(re.findall(r"cpp_fused\w+", code))))}
