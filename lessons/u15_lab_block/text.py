"""What Inductor wrote, shortened: C++ for this processor, Triton for a GPU.

    short(text)               a file of Inductor without imports, casts, braces and settings
    cpp("block")              the C++ of a program and where it is from: written now, or recorded
    code_of(text, kernel)     one kernel of such a text
    BY_GPU["block"]           the Triton, recorded

`short` changes no name, and no number but for the casts around it. Next room: eager.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from shutil import which
from typing import Any
from unittest import mock

from course_lib.models import build
from course_lib.recorded import recorded
from lessons.dynamo import gelu, quiet

BY_INDUCTOR, BY_GPU = recorded(__file__, "inductor.txt"), recorded(__file__, "gpu.txt")
SHAPES = {"block": (1, 128, 256), "gelu": (1024, 1024)}
THREADS = 2

# Lines that only check, time or set up.
NOISE = re.compile(
    r"integer_div_error|C10_LIKELY|GCC ivdep|omp_get_thread_num|#include|^[{}\s]*$|^del |"
    r"assert_alignment|get_raw_stream|_DeviceGuard|set_device|args\.clear|^import |^from |"
    r"kernel path:|^@triton_heur|Source node to ATen|^#   \S+ => |^#   return|_helpers\.set|"
    r"RBLOCK: tl.constexpr = R0_BLOCK|^(rnumel|roffset|rindex) = |async_compile\.wait"
)
SHORTER = (
    (r"static_cast<int64_t>\(([^()]*)\)", r"\1"), (r"\b(\d+)L\b", r"\1"),
    (r"static_cast<float>\(([\w.\-+]+)\)", r"\1"), (r"at::vec::", ""),
    (r"Vectorized<float>", "Vectorized"),
    (r"Vectorized::loadu\((.*), (?:16|8|4)\);", r"loadu(\1);"), (r"Vectorized::loadu", "loadu"),
    (r"vec_reduce_all<float, 1>\(\[\].*?return (x \+ y|maximum).*\}, (\w+)\)",
     r"vec_reduce_all(\1, \2)"),
    (r"-std::numeric_limits<float>::infinity\(\)", "-inf"), (r"^(?:u?int64_t|auto) ", ""),
    (r"for\(int64_t ", "for("), (r'extern "C"\s+void\s+', "void "), (r"; del \w+  # reuse", ""),
    (r"if\(C10_UNLIKELY\((\w+) >= (\d+) && \1 < (\d+)\)\)", r"// the rest, \1 from \2"),
)  # fmt: skip


def short(text: str) -> str:
    """A file that Inductor wrote, without what only checks, casts or sets up.

    The kernels come first, and then `call`. In C++, a line is as far to the right as the loops
    around it are deep; what follows `the rest` does the last numbers, if they fill no vector.
    """
    body = text[text.index("empty_strided_p2p =") :].partition("\n")[2]
    kernels, _, after = body.partition("async_compile.wait")
    call = after[after.index("def call(self, args)") : after.index("runner = Runner")]
    parts = re.split(r"(?m)^(?=\w+ = async_compile.cpp|# kernel path)", kernels)
    shown = ["\n".join(_cpp(part) if "cpp_pybinding" in part else _lines(part)) for part in parts]
    called = "\n".join(line if line.startswith("def") else f"    {line.strip()}"
                       for line in _lines(call.replace("(self, args)", "(args)")))  # fmt: skip
    return "".join(f"{part}\n\n" for part in [*filter(str.strip, shown), called])[:-1]


def _lines(part: str) -> Iterator[str]:
    """A kernel in Triton, or `call`: lines that are kept, as far to the right as they were."""
    settings = False
    for line in part.splitlines():
        settings = (settings and line.strip() != ")") or line.startswith("@triton_heur")
        if not settings and line.strip() != ")" and not NOISE.search(line.strip()):
            yield re.sub(r"; del \w+  # reuse", "", line.rstrip())


def _cpp(part: str) -> Iterator[str]:
    """A kernel in C++."""
    head, parameters, body = re.split(r'(extern "C".*?\n)(?=\{)', part, maxsplit=1, flags=re.S)
    yield head.splitlines()[0]
    yield _shorter(re.sub(r"\s+", " ", parameters).strip())
    depths: list[int] = []
    for line in body.splitlines():
        depth, words = len(line) - len(line.lstrip()), line.strip()
        while depths and depth <= depths[-1] and words not in ("", "{"):  # `}` ends a loop
            depths.pop()
        if NOISE.search(words):
            continue
        yield "    " * len(depths) + _shorter(words)
        if words.startswith("for"):
            depths.append(depth)


def _shorter(line: str) -> str:
    for old, new in SHORTER:
        line = re.sub(old, new, line)
    return line


def code_of(text: str, kernel: str) -> str:
    """The code of one kernel of a shortened text."""
    code = text[text.index(f"{kernel} = async_compile") :].partition("\n")[2]
    return code[: code.index("'''")]


# ── written now ──


def written(function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
    """What Inductor writes for a call, shortened. Nothing is compiled by a C++ compiler, though
    Inductor asks for one. The pattern that would make one call of attention is left out."""
    import torch
    from torch._inductor import async_compile, config
    from torch._inductor.utils import run_and_get_code

    chosen = {"cpp.threads": THREADS, "fx_graph_cache": False, "pattern_matcher": False, **options}
    silent = mock.patch.object(
        async_compile.AsyncCompile, "cpp_pybinding", lambda *_, **__: lambda *arrays: None
    )
    with quiet(), config.patch(chosen), silent, torch.no_grad():
        _, (text,) = run_and_get_code(torch.compile(function), *inputs)
    return short(text)


def program(name: str) -> tuple[Any, Any]:
    """A program of the lab, and its input: "gelu", or "block", the course's transformer block."""
    import torch

    x = torch.rand(*SHAPES[name], generator=torch.Generator().manual_seed(15))
    return (build("block") if name == "block" else gelu), x


@cache
def cpp(name: str) -> tuple[str, str]:
    """The C++ of "block" or "gelu", and in words where it is from."""
    if which("g++") is None:
        return BY_INDUCTOR[name], f"{BY_INDUCTOR.words}; there is no g++ here"
    import torch

    function, x = program(name)
    return written(function, x), f"written now by PyTorch {torch.__version__.split('+')[0]}"
