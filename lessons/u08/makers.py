"""What makes the recorded schedules of unit 8 again: isl's, LLVM's, Polly's and Graphite's.

Next room: isl_schedules.py.
"""

from __future__ import annotations

from course_lib.maker import in_rows, maker
from lessons.u08.isl_schedules import NESTS, isl_schedule
from lessons.u08.wild import CLANG, GCC, OPT, graphite, llvm_says, polly


@maker("islpy", "islpy")
def schedules_by_isl() -> dict[str, str]:
    """Of each nest its band, and the loops in that order."""
    texts = {}
    for name in NESTS:
        found = isl_schedule(name)
        keys = ("distances", "rows", "permutable", "parallel")
        texts[f"{name}: band"] = in_rows({key: getattr(found, key) for key in keys})
        texts[f"{name}: loops"] = str(found.kernel)
    return texts


@maker("LLVM", OPT)
def pairs_by_llvm() -> dict[str, str]:
    return {"pairs": in_rows({f"{a} {b}": says for (a, b), says in llvm_says()[0].items()})}


@maker("clang", CLANG)
def bands_by_polly() -> dict[str, str]:
    return {"bands": _found_now(polly())}


@maker("gcc", GCC)
def bands_by_graphite() -> dict[str, str]:
    return {"bands": _found_now(graphite())}


def _found_now(found: tuple[list[str], str]) -> str:
    bands, word = found
    if "just now" not in word:
        raise ValueError("it printed no schedule")
    return "\n".join(bands)
