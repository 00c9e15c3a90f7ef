"""Hidden checks of unit 4 for may_overwrite: kernels that were drawn for this run.

They are of the kinds that the specification names, with other axes, sizes, types and names.
"""

from __future__ import annotations

import re

import numpy as np

from autograder.check.framework import Wrong, hidden
from autograder.units.u04.checks.kernels import short
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.loops.parse import parse_kernel

VARIABLES = ("a", "b", "h", "i", "j", "k", "m", "n", "p", "q", "r", "u", "v", "w")
TRIES = 3  # kernels of each kind

# How many axes the body has, the body, and which operands may be overwritten, and which may not. @
# is where the indices of outer loops belong, S the extent of the loops, L the last index of one.
DRAWN = [
    (1, "i { out[@i] = max(x1[@i], x0[@i]) }", "x0 x1", ""),
    (2, "i { j { out[@i, j] = x1[@i, j] + x0[@i, j] } }", "x0 x1", ""),
    (2, "i { j { out[@i, j] = x0[@i, j] * x0[@i, j] - x1[@i, j] } }", "x0 x1", ""),
    # A product of matrices, and a residual that is added where the result is stored.
    (2, "i { j { acc := 0.0 k { acc[] += x0[@i, k] * x1[@k, j] } out[@i, j] = acc[] * x2[@i, j] } "
     "}", "x2", "x0 x1"),
    # A row that the sum of its squares divides, and a softmax.
    (1, "acc := 0.0 j { acc[] += x0[@j] * x0[@j] } i { out[@i] = exp(x0[@i] - 1.0) / acc[] }", "x0",
     ""),
    (1, "top := -inf k { top[] max= x0[@k] } acc := 0.0 j { acc[] += exp(x0[@j] - top[]) } "
     "i { out[@i] = exp(x0[@i] - top[]) / acc[] }", "x0", ""),
    # An element of x0 is read after the same element of the result was written.
    (2, "i { j { out[@i, j] = x0[@j, i] } }", "", "x0"),
    (2, "i { j { out[@i, j] = x0[@i, j] - x0[@i, 0] } }", "", "x0"),
    (2, "i { j { out[@i, j] = x0[@i, j] - x0[@0, j] } }", "", "x0"),
    (2, "i { j { out[@i, j] = x0[@i, L - j] } }", "", "x0"),
    (2, "i { j { out[@i, j] = x0[@L - i, j] } }", "", "x0"),
    (2, "i { j in 1..S { out[@i, j] = x0[@i, j] + x0[@i, j - 1] } }", "", "x0"),
    (2, "i { j { acc := 0.0 k { acc[] += x0[@i, k] } out[@i, j] = acc[] } }", "", "x0"),
    (2, "i { j { out[@i, j] = x0[@i, j] * 2.0 } } k { m { out[@k, m] = x0[@k, m] + 1.0 } }", "",
     "x0"),
    (2, "i { j { out[@i, j] = 0.0 one := 1.0 out[@i, j] = x0[@i, j] + one[] } }", "", "x0"),
]  # fmt: skip


@hidden("schedule.in_place.may_overwrite", seed=50_021)
def other_kernels_of_these_kinds(may_overwrite, rng):
    """Elementwise, epilogues and rows may overwrite; what is read too late may not."""
    for axes, body, some, others in DRAWN * TRIES:
        kernel = drawn(rng, axes, body)
        for operand in f"{some} {others}".split():
            may = operand in some
            if bool(may_overwrite(kernel, operand)) != may:
                problem = f"The result {'may' if may else 'may not'} overwrite {operand}."
                text = print_kernel(kernel)
                raise Wrong(problem, program=text, got=str(not may), expected=str(may))


def drawn(rng: np.random.Generator, axes: int, body: str) -> Kernel:
    """A kernel with this body in outer loops, and with other names, sizes and types."""
    names, size = rng.permutation(VARIABLES).tolist(), int(rng.integers(3, 6))
    outer = {names.pop(): int(rng.integers(1, 4)) for _ in range(rng.integers(0, 3))}
    words = {"@": "".join(f"{name}, " for name in outer), "S": str(size), "L": str(size - 1)}
    words |= dict(zip("ijkm", names, strict=False))
    body = re.sub(r"@|\b[SLijkm]\b", lambda word: words[word[0]], body)
    for name, extent in outer.items():
        body = f"{name} in 0..{extent} {{ {body} }}"
    kind = "f32" if "." in body.replace("..", "") else rng.choice(["f32", "f64", "i32", "i64"])
    shape = ",".join(map(str, [*outer.values(), *[size] * axes]))
    operands = len(set(re.findall(r"x\d", body)))
    return parse_kernel(short("drawn", f"{kind}[{shape}] " * (operands + 1), body, extent=size))
