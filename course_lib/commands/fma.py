"""`python -m course_lib fma`: the multiply-adds of a model, or of LLVM IR, counted.

    python -m course_lib fma kernel.ll --given lo=0 hi=8    in the code, and in one call
    python -m course_lib fma mlp                            the op table's formula beside the code

Next room: `course_lib/llvm/inspect/fma.py`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from course_lib.commands.infra.result import Result
from course_lib.commands.infra.task import about_a_model, prepare
from course_lib.compiler import compile
from course_lib.files import read_text
from course_lib.runtime.executable import CompiledModel

HELP = "count the multiply-adds of a model, or of LLVM IR"


def arguments(sub: ArgumentParser) -> None:
    about_a_model(sub)
    sub.add_argument("--given", metavar="NAME=N", nargs="+", default=[], help="of a .ll "
                     "file's functions: integer arguments that are known")  # fmt: skip


def fma(options: Namespace) -> Result:
    """The multiply-adds that stand in LLVM IR, and those that a call executes; of a file, or of
    each kernel of a model."""
    if Path(options.model).suffix != ".ll":
        return _work(options)
    from course_lib.llvm.inspect.fma import count_fma  # llvmlite is heavy

    counts = count_fma(read_text(options.model), _numbers(options.given))
    lines: list[str] = []
    for name, count in counts.items():
        lines += [f"@{name}", f"  in the code:     {_words(count.static)}"]
        lines += [f"  in one call:     {_words(count.dynamic)}"]
        lines += [f"    {block}: {why}" for block, why in count.unknown.items()]
    return Result("\n".join(lines), {"functions": [c.as_dict() for c in counts.values()]})


def _work(options: Namespace) -> Result:
    """A model's kernels: the op table's formula beside what their LLVM IR executes."""
    from course_lib.llvm.inspect.work import operations, total, work  # llvmlite is heavy

    task = prepare(options)
    executable = compile(task.model, task.inputs)
    assert isinstance(executable, CompiledModel)
    rows = work(executable.program, executable.code)
    lines = []
    for row in rows:
        lines += [f"{row.name}  ({row.calls} x {row.flops:,} FLOP by the op table)"]
        lines += [f"  as emitted:      {_words(row.emitted)}"]
        lines += [f"  after LLVM:      {_words(row.optimized)}"]
    sums = {
        "op_table": total(rows, lambda row: row.flops),
        "emitted": total(rows, lambda row: operations(row.emitted)),
        "optimized": total(rows, lambda row: operations(row.optimized)),
    }
    lines += ["", "FLOP in all:       " + ", ".join(f"{k} {_plainly(n)}" for k, n in sums.items())]
    kernels = [row.as_dict() for row in rows]
    return Result(
        "\n".join(lines), {"model": str(options.model), "flops": sums, "kernels": kernels}
    )


def _numbers(words: Sequence[str]) -> dict[str, int]:
    """["lo=0", "hi=8"] -> {"lo": 0, "hi": 8}"""
    pairs = [word.partition("=") for word in words]
    try:
        return {name: int(number) for name, _, number in pairs}
    except ValueError:
        raise ValueError(f"--given takes NAME=NUMBER, got {' '.join(words)}") from None


def _words(counts: Mapping[str, int] | None) -> str:
    if counts is None:
        return "unknown"
    return ", ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items())) or "none"


def _plainly(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
