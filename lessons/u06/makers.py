"""What makes the listings of unit 6 for two GPUs again. Next room: listings.py."""

from __future__ import annotations

from course_lib.llvm.processors import assembly
from course_lib.maker import maker
from lessons.u06.listings import layer


@maker("llvmlite", "llvmlite")
def layer_on_gpus() -> dict[str, str]:
    return {target: made_now(target) for target in ("nvptx", "amdgpu")}


def made_now(target: str) -> str:
    """The lines of a listing as they are made here, without directives."""
    first, last = {"nvptx": ("mov.u32", "ret;"), "amdgpu": ("layer:", "s_endpgm")}[target]
    lines = [line.replace("\t", "  ").rstrip() for line in assembly(layer(), target).splitlines()]
    start = next(k for k, line in enumerate(lines) if first in line)
    end = next(k for k, line in enumerate(lines) if last in line)
    return "".join(f"{line}\n" for line in lines[start : end + 1] if line)
