"""What each command of `python -m course_lib` does: options in, text and plain data out.

    run(options)    ->  Result(text="compiled in 120 ms ...", data={"run_ms": 0.4, ...}, status=0)

Next room: `task.py`.
"""

from __future__ import annotations

import difflib
import statistics
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.bridges import steps as stepwise
from course_lib.bridges.peers import onnxruntime_session
from course_lib.compiler import compile
from course_lib.draw.base.stepper import stepper
from course_lib.draw.graphs.stages import picture as drawn
from course_lib.draw.graphs.stages import slider
from course_lib.files import read_text
from course_lib.ir.attributes import REQUIRED
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.registry import KINDS, OPS, Op
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.pipeline import WINOGRAD
from course_lib.passes.prepare.decompose import decompose
from course_lib.runtime.executable import CompiledModel
from course_lib.task import Task, prepare

TOLERANCE = 1e-3  # relative to the largest value of the peer's result
ROUNDINGS = 4  # of a result's own type, which may be all that f16 has


@dataclass(frozen=True)
class Result:
    """`data` for --json, `text` for people, `status` for the shell."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    status: int = 0


def number(least: int, most: int | None = None) -> Callable[[str], int]:
    """What an option takes: a whole number in this range. argparse prints the words otherwise."""

    def parse(word: str) -> int:
        try:
            found = int(word)
        except ValueError:
            found = None
        if found is None or found < least or (most is not None and found > most):
            limits = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ArgumentTypeError(f"it takes a whole number {limits}, got {word[:40]!r}")
        return found

    return parse


# ── run ──


def run(options: Namespace) -> Result:
    """Compile, run and time a model; compare with a peer if asked."""
    task = prepare(options)
    executable = compile(
        task.model,
        task.inputs,
        target=options.target,
        threads=options.threads,
        passes=WINOGRAD if options.winograd else None,
        search=options.tuned,
    )
    outputs = executable.run(task.inputs)
    report = executable.report()
    data: dict[str, Any] = {
        "model": str(options.model),
        "target": options.target,
        **report.as_dict(),
        "run_ms": median_ms(lambda: executable.run(task.inputs), options.repeat),
        "outputs": [f"{o.dtype}{list(o.shape)}" for o in outputs],
    }
    lines = [str(report), "", f"run: {data['run_ms']:.3f} ms (median of {options.repeat})"]
    status = 0
    if options.compare:
        data["compare"] = compare(task, outputs, options)
        lines.append(_comparison(data["compare"], data["run_ms"]))
        status = 0 if data["compare"]["agrees"] else 1
    return Result("\n".join(lines), data, status)


def median_ms(call: Callable[[], Any], repeat: int) -> float:
    """Median wall-clock milliseconds of a call, after one that warms up."""
    call()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def compare(task: Task, outputs: Sequence[np.ndarray], options: Namespace) -> dict[str, Any]:
    """Errors against the peer, over all outputs, and its time. A model of integers is compared with
    what the peer computes without optimizing it, in steps where its results come in steps."""
    from course_lib.frontend.onnx.steps import output_steps  # onnx is heavy

    peer = onnxruntime_session(task.source, options.threads)
    right, steps, more = peer(task.peer_inputs), output_steps(task.source), {}
    if steps is not None:
        optimized = right
        right = onnxruntime_session(task.source, options.threads, plain=True)(task.peer_inputs)
        more = {"steps": stepwise.distances(outputs, right, optimized, steps)}
    return {
        "peer": options.compare,
        **errors(outputs, right, steps or [None] * len(outputs)),
        **more,
        "peer_ms": median_ms(lambda: peer(task.peer_inputs), options.repeat),
    }


def errors(
    outputs: Sequence[np.ndarray], right: Sequence[np.ndarray], steps: stepwise.Sizes
) -> dict[str, Any]:
    """The largest errors, and whether all outputs are near enough: in steps, or by a tolerance."""
    worst_absolute = worst_relative = 0.0
    agrees = True
    for mine, other, step in zip(outputs, right, steps, strict=True):
        absolute, scale = _distance(mine, np.asarray(other))
        relative = absolute / scale if scale else absolute
        worst_absolute = max(worst_absolute, absolute)
        worst_relative = max(worst_relative, relative)
        apart = stepwise.in_steps([mine], [other], [step])
        near = relative <= tolerance(mine.dtype) if apart is None else apart <= stepwise.ALLOWED
        agrees = agrees and near
    return {"max_abs_error": worst_absolute, "max_rel_error": worst_relative, "agrees": agrees}


def tolerance(dtype: np.dtype) -> float:
    """How far apart two right results of this type may be."""
    precision = float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    return max(TOLERANCE, ROUNDINGS * precision)


def _distance(mine: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Largest difference, and the largest finite value to see it against."""
    if mine.shape != other.shape:
        raise ValueError(f"shapes differ: ours {list(mine.shape)}, the peer's {list(other.shape)}")
    if not mine.size:
        return 0.0, 1.0
    a, b = mine.astype(np.float64), other.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    return float(np.nan_to_num(difference, nan=np.inf).max()), float(finite.max(initial=0.0))


def _comparison(found: dict[str, Any], ours_ms: float) -> str:
    verdict = "agrees with" if found["agrees"] else "DIFFERS from"
    plain = " (without its optimizations)" if "steps" in found else ""
    steps = stepwise.told(found["peer"], found["steps"]) + "\n" if "steps" in found else ""
    return (
        f"{verdict} {found['peer']}{plain}: largest error {found['max_abs_error']:.2e} absolute, "
        f"{found['max_rel_error']:.2e} relative to its largest value\n{steps}"
        f"{found['peer']}: {found['peer_ms']:.3f} ms, "
        f"ours takes {ours_ms / found['peer_ms']:.2f} times as long"
    )


# ── show ──


def show(options: Namespace) -> Result:
    """One stage of a compilation, printed or written as a picture; or a slider through all."""
    task = prepare(options)
    executable = compile(task.model, task.inputs)
    if options.stage == "all":
        picture = slider(executable.stages, Path(options.model).stem)
        names = [stage.name for stage in executable.stages]
        return _shown(
            picture, "all stages", {"model": str(options.model), "stages": names}, options
        )
    stage = executable.stage(options.stage)
    data = {"model": str(options.model), "stage": stage.name, "level": stage.level}
    if options.output is None:
        return Result(stage.text, {**data, "text": stage.text})
    return _shown(drawn(stage), stage.name, data, options)


def _shown(picture: Any, what: str, data: dict[str, Any], options: Namespace) -> Result:
    if options.output is None:
        return Result(str(picture), data)
    path = picture.save(options.output)
    return Result(f"{what} written to {path}", {**data, "output": str(path)})


# ── look ──

PICTURES = ("source", "passes", "remarks", "flow", "ports")


def look(options: Namespace) -> Result:
    """A kernel of a model on its way to the processor, as a picture; or the list of its kernels."""
    task = prepare(options)
    program = compile(task.model, task.inputs).stage("scheduled").form
    steps = [step for step in program.steps if step.kernel is not None]
    kernels = {step.kernel.name: step.kernel for step in steps}
    data = {"model": str(options.model), "kernels": list(kernels)}
    if options.kernel is None:
        lines = [f"@{k.name}  computes {', '.join(k.origin) or '-'}" for k in kernels.values()]
        return Result("\n".join(lines), data)
    if options.kernel not in kernels:
        near = difflib.get_close_matches(options.kernel, kernels, n=1)
        hint = f"; did you mean {near[0]}?" if near else ", but " + ", ".join(kernels)
        raise ValueError(f"{options.model} has no kernel {options.kernel!r}{hint}")
    picture = _looked(options.what, kernels[options.kernel])
    return _shown(picture, f"{options.what} of @{options.kernel}", data, options)


def _looked(what: str, kernel: Kernel) -> Any:
    from course_lib.llvm.inspect import looking  # llvmlite is heavy

    if what == "flow":
        pictures = looking.blocks(kernel)
        states = [(f"part {number}", picture) for number, picture in enumerate(pictures, 1)]
        return pictures[0] if len(pictures) == 1 else stepper(states, f"@{kernel.name}: flow")
    ways = {"source": looking.look, "passes": looking.passes, "remarks": looking.reasons}
    return ways.get(what, looking.ports)(kernel)


# ── fma ──


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


# ── asm ──


def asm(options: Namespace) -> Result:
    """A model's kernels as assembly for a target; those that it cannot run are named."""
    from course_lib.llvm.processors import PROCESSORS, assembly  # llvmlite is heavy

    if options.target not in PROCESSORS:
        raise ValueError(f"--target is one of {', '.join(PROCESSORS)}, got {options.target!r}")
    task = prepare(options)
    graph = compile(task.model, task.inputs, target="interpreter").graph
    steps = lower(everywhere(graph, decompose)).steps
    kernels = {step.kernel.name: step.kernel for step in steps if step.kernel is not None}
    if options.kernel is not None and options.kernel not in kernels:
        raise ValueError(f"there is no kernel {options.kernel!r}; there are {', '.join(kernels)}")
    texts, refused = {}, {}
    for name in [options.kernel] if options.kernel else kernels:
        try:
            texts[name] = assembly(kernels[name], options.target)
        except ValueError as error:
            refused[name] = str(error)
    lines = [*texts.values(), *(f"not emitted: {why}" for why in refused.values())]
    data = {"model": str(options.model), "target": options.target, "assembly": texts}
    return Result("\n".join(lines), {**data, "refused": refused}, 1 if refused else 0)


# ── ops ──


def ops(options: Namespace) -> Result:
    """The op table, by kind."""
    if options.op is not None and options.op not in OPS:
        raise ValueError(f"there is no op {options.op!r}; `python -m course_lib ops` lists all")
    rows = [OPS[options.op]] if options.op else list(OPS.values())
    lines: list[str] = []
    for kind, meaning in KINDS.items():
        mine = sorted((row for row in rows if row.kind == kind), key=lambda row: row.name)
        if mine:
            lines += [f"{kind}: {meaning}", *(f"  {_signature(r):<58} {r.doc}" for r in mine), ""]
    return Result("\n".join(lines).rstrip(), {"ops": [_as_dict(row) for row in rows]})


def _signature(row: Op) -> str:
    least, most = (row.arity, row.arity) if isinstance(row.arity, int) else row.arity
    shown = "abcdefghi"[: least + 1 if most is None else most]
    args = [name if k < least else f"[{name}]" for k, name in enumerate(shown)]
    args += ["..."] if most is None else []
    attrs = ", ".join(
        f"{name}: {attr.kind}" if attr.default is REQUIRED else f"{name} = {_plain(attr.default)}"
        for name, attr in row.attrs.items()
    )
    return f"{row.name}({', '.join(args)})" + (f" {{{attrs}}}" if attrs else "")


def _plain(default: Any) -> str:
    if default is None:
        return "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _as_dict(row: Op) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": row.kind,
        "doc": row.doc,
        "arity": row.arity,
        "attrs": {n: None if a.default is REQUIRED else a.default for n, a in row.attrs.items()},
        "kinds": {n: a.kind for n, a in row.attrs.items()},
        "required": [n for n, a in row.attrs.items() if a.default is REQUIRED],
        "has_loops": row.loops is not None,
        "composite": row.kind == "composite",
    }
