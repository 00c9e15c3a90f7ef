"""The C++ that PyTorch's Inductor writes for a function, which nobody compiles, and how it becomes
readable.

    code = written(torch.relu, torch.ones(8, 8))      the whole program, in Python
    calls(code)                                       ->  ["cpp_fused_relu_0"]
    shortened(code, "cpp_fused_relu_0")               ->  its C++, in few lines

It is that for AVX-512 and one thread, whatever runs here. What makes the recordings of the units 3
and 15 again uses it. Next room: lessons/u03/makers.py.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

NOISE = ("inductor_cpu", "C10_LIKELY", "#pragma", "std::atomic")
SHORTER = (
    (r"static_cast<int64_t>\((\w+(?: \+ \w+\*x0)?)\)", r"\1"), (r"(\d+)L\b", r"\1"),
    (r"at::vec::Vectorized<float>::loadu\((.*?), 16\)", r"loadu(\1)"),
    (r"at::vec::vec_reduce_all<float, 1>\(.*return x \+ y.*tmp_acc0_vec\)",
     "vec_reduce_all(+, tmp_acc0_vec)"),
    (r"at::vec::vec_reduce_all<float, 1>\(.*return at::vec::(\w+)\(x, y\).*, tmp_acc0_vec\)",
     r"vec_reduce_all(\1, tmp_acc0_vec)"),
    (r"at::vec::Vectorized<float>", "Vectorized"), (r"at::vec::(?=max|min)", ""),
    (r"static_cast<float>\(([\w.\-e]+)\)", r"\1"),
    (r"std::numeric_limits<float>::infinity\(\)", "infinity"),
    (r"(?:u?int64_t|auto) ", ""), (r'extern "C"\s+void\s+', ""),
)  # fmt: skip


def written(function: Callable[..., Any], *inputs: Any) -> str:
    """The program that torch.compile writes for a function, or a module, of tensors."""
    import torch  # torch is heavy
    from torch._inductor.utils import run_and_get_code

    from course_lib.peers.torch_compile import uncompiled  # it imports torch

    with uncompiled(), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is kept, as we asked
        _, texts = run_and_get_code(torch.compile(function), *inputs)
    torch._dynamo.reset()  # what was made computes nothing
    return "\n".join(texts)


def calls(code: str) -> list[str]:
    """What a program calls, in order: its own kernels by their names, and libraries."""
    from course_lib.peers.torch_compile import CALL  # it imports torch

    return CALL.findall(code)


def shortened(code: str, kernel: str) -> str:
    """The C++ of one kernel of a program, without casts, bounds tests and braces; its outer loops
    are numbered, and what stands in them is as far to the right as it is deep."""
    text = code[code.index(f"{kernel} = async_compile") :]
    text = text[text.index('extern "C"') : text.index("''')")]
    for old, new in SHORTER:
        text = re.sub(old, new, text)
    head, _, body = text.partition("{\n")
    lines, loops, depths = [re.sub(r"\s+", " ", head).strip()], 0, []
    for line in body.splitlines():
        depth, words = len(line) - len(line.lstrip()), line.strip()
        if words in ("", "{", "}") or any(word in words for word in NOISE):
            continue
        while depths and depth <= depths[-1]:
            depths.pop()
        if words.startswith("for") and not depths:
            loops += 1
            lines.append(f"// loop {loops}")
        lines.append("    " * len(depths) + words)
        if words.startswith("for"):
            depths.append(depth)
    return "\n".join(lines) + "\n"
