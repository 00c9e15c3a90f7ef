"""What each command of `python -m course_lib` does: options in, text and plain data out.

    run(options)    ->  Result(text="compiled in 120 ms ...", data={"run_ms": 0.4, ...}, status=0)

Next room: `compiler.py`, the front door.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.bridges.peers import onnxruntime_session
from course_lib.compiler import compile
from course_lib.draw.graphs.stages import slider
from course_lib.frontend import load, signature
from course_lib.ir.attributes import REQUIRED
from course_lib.ir.graph.graph import Graph
from course_lib.ir.registry import KINDS, OPS, Op
from course_lib.ir.types import TensorType
from course_lib.models import MODELS, example_inputs

TOLERANCE = 1e-3  # relative to the largest value of the peer's result


@dataclass(frozen=True)
class Result:
    """`data` for --json, `text` for people, `status` for the shell."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    status: int = 0


# ── run ──


def run(options: Namespace) -> Result:
    """Compile, run and time a model; compare with a peer if asked."""
    model, source = find_model(options.model)
    inputs = load_inputs(signature(model), options.inputs, options.seed)
    executable = compile(model, inputs, target=options.target, threads=options.threads)
    outputs = executable.run(inputs)
    report = executable.report()
    data: dict[str, Any] = {
        "model": str(options.model),
        "target": options.target,
        **report.as_dict(),
        "run_ms": median_ms(lambda: executable.run(inputs), options.repeat),
        "outputs": [f"{o.dtype}{list(o.shape)}" for o in outputs],
    }
    lines = [str(report), "", f"run: {data['run_ms']:.3f} ms (median of {options.repeat})"]
    status = 0
    if options.compare:
        data["compare"] = compare(source, inputs, outputs, options)
        lines.append(_comparison(data["compare"], data["run_ms"]))
        status = 0 if data["compare"]["agrees"] else 1
    return Result("\n".join(lines), data, status)


def find_model(model: str) -> tuple[str | Graph, str | bytes]:
    """Something that `compile` takes, and the same model as onnxruntime takes it (path or bytes).

    A file is not translated yet: the inputs give numbers to its symbolic sizes, and some ops, such
    as Split, can be translated for numbers only.
    """
    if model in MODELS and not Path(model).exists():
        from course_lib.frontend.onnx.write import to_onnx  # onnx is heavy

        graph = load(MODELS[model].build(), example_inputs(model))
        return graph, to_onnx(graph).SerializeToString()
    if not Path(model).exists():
        raise ValueError(f"{model}: there is no such file, nor is it one of {', '.join(MODELS)}")
    return model, model


def load_inputs(
    wanted: Mapping[str, TensorType | None], path: str | None, seed: int
) -> list[np.ndarray]:
    """Inputs from a file by name or in order; otherwise random, with 1 for each symbolic size."""
    if path is None:
        return random_inputs(wanted, seed)
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path}: cannot be read as an .npz file of arrays: {error}") from None
    if set(wanted) <= set(arrays):
        return [arrays[name] for name in wanted]
    if len(arrays) != len(wanted):
        raise ValueError(f"{path} holds {list(arrays)}, but the model takes {list(wanted)}")
    return list(arrays.values())


def random_inputs(wanted: Mapping[str, TensorType | None], seed: int) -> list[np.ndarray]:
    """Standard normal floats, small whole numbers, random truth values."""
    rng = np.random.default_rng(seed)
    made = []
    for name, t in wanted.items():
        if t is None:
            raise ValueError(f"input {name!r} has no shape: give --inputs FILE.npz")
        shape = tuple(d if isinstance(d, int) else 1 for d in t.shape)
        if t.dtype.is_float:
            array = rng.standard_normal(shape)
        else:
            array = rng.integers(0, 2 if t.dtype.kind == "bool" else 8, shape)
        made.append(np.asarray(array).astype(t.dtype.numpy))
    return made


def median_ms(call: Callable[[], Any], repeat: int) -> float:
    """Median wall-clock milliseconds of a call, after one that warms up."""
    call()
    times = []
    for _ in range(max(1, repeat)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def compare(
    source: str | bytes,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    options: Namespace,
) -> dict[str, Any]:
    """Errors against the peer, over all outputs, and its time."""
    peer = onnxruntime_session(source, options.threads)
    theirs = peer(inputs)
    worst_absolute = worst_relative = 0.0
    for mine, other in zip(outputs, theirs, strict=True):
        absolute, scale = _distance(mine, np.asarray(other))
        worst_absolute = max(worst_absolute, absolute)
        worst_relative = max(worst_relative, absolute / scale if scale else absolute)
    return {
        "peer": options.compare,
        "max_abs_error": worst_absolute,
        "max_rel_error": worst_relative,
        "agrees": bool(worst_relative <= TOLERANCE),
        "peer_ms": median_ms(lambda: peer(inputs), options.repeat),
    }


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
    return (
        f"{verdict} {found['peer']}: largest error {found['max_abs_error']:.2e} absolute, "
        f"{found['max_rel_error']:.2e} relative to its largest value\n"
        f"{found['peer']}: {found['peer_ms']:.3f} ms, "
        f"ours takes {ours_ms / found['peer_ms']:.2f} times as long"
    )


# ── show ──


def show(options: Namespace) -> Result:
    """One stage of a compilation, printed or written as a picture; or a slider through all."""
    model, _ = find_model(options.model)
    inputs = load_inputs(signature(model), options.inputs, options.seed)
    executable = compile(model, inputs)
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
    return _shown(stage.picture(), stage.name, data, options)


def _shown(picture: Any, what: str, data: dict[str, Any], options: Namespace) -> Result:
    if options.output is None:
        return Result(str(picture), data)
    path = picture.save(options.output)
    return Result(f"{what} written to {path}", {**data, "output": str(path)})


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
