"""What torch.compile costs around our machine code, beside `course_lib.compile` on the same models.

    make bench            (or: python benchmarks/torch_compile.py --threads 1 --model mlp)

    Dynamo alone         a backend that looks at no weight, and runs what `course_lib.compile` made:
                         what is left are Dynamo's guards and its wrappers, which no backend avoids
    backend=course       ours, with nothing said
    modules unguarded    ours, frozen: Dynamo looks at no module, and we at no weight
    inputs guarded       ours, frozen: of all guards those stay that are about inputs and buffers

The last two are fast, and unsafe: docs/architecture.md says what they do not see.

All sides take turns in one process, one model in a process: guards read what lies all over memory,
and a large model has pushed that out of the caches. Grad mode is off.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import torch
from measuring import OURS, finish, measure, options, progress, thread_counts

import course_lib
from course_lib.models import MODELS, example_inputs
from course_lib.runtime.direct import direct

FROZEN = {"weights": "frozen"}
UNGUARDED = {**FROZEN, "guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}
INPUTS = {**FROZEN, "guard_filter_fn": torch.compiler.keep_tensor_guards_unsafe}


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=MODELS, action="append", help="only this one")
    asked = parser.parse_args()
    jobs = {f"{name}, {threads} thr.": (name, threads)
            for name in asked.model or MODELS
            for threads in thread_counts(asked.threads)}  # fmt: skip
    rows = []
    alone = ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1)
    with progress(list(jobs)) as at, alone as process:
        for job, (name, threads) in jobs.items():
            at(job)("compiles and measures")
            rows.append(process.submit(row, name, threads, asked).result())
    finish(rows, "model", {}, asked)


def row(name: str, threads: int, asked: argparse.Namespace) -> dict:
    """Milliseconds of each side, for one model."""
    torch.set_num_threads(threads)
    with torch.no_grad():
        return {"model": name, "threads": threads,
                "ms": measure(sides(name, threads), asked.rounds, asked.seconds)}  # fmt: skip


def sides(name: str, threads: int) -> dict[str, Callable[[], Any]]:
    """Each with a model of its own, whose code is compiled and known to be right."""
    x = list(map(torch.from_numpy, example_inputs(name)))
    want = MODELS[name].build().eval()(*x)
    base = course_lib.compile(MODELS[name].build().eval(), x, threads=threads)
    ours = {"threads": threads}
    calls = {
        OURS: base,
        "Dynamo alone": compiled(name, partial(bare, base, x[0], want)),
        "backend=course": compiled(name, "course", ours),
        "modules unguarded": compiled(name, "course", {**ours, **UNGUARDED}),
        "inputs guarded": compiled(name, "course", {**ours, **INPUTS}),
    }
    for call in calls.values():
        torch.testing.assert_close(call(*x), want, rtol=1e-4, atol=1e-4)
    return {side: partial(call, *x) for side, call in calls.items()}


def compiled(name: str, backend: Any, options: dict | None = None) -> Callable[..., Any]:
    """The model by torch.compile. What other guards were made for is not to be used here."""
    module = MODELS[name].build().eval()
    own: dict[str, Any] = {"isolate_recompiles": True}  # which the overloads of 2.13 do not have
    return torch.compile(module, backend=backend, options=options, **own)


def bare(
    model: Any, x: torch.Tensor, like: torch.Tensor, _: torch.fx.GraphModule, inputs: Sequence[Any]
) -> Callable[..., tuple[torch.Tensor]]:
    """A backend that knows its weights: it runs the code that there is, on the input that has the
    shape of x."""
    run, shape = direct(model), tuple(like.shape)
    assert run is not None, "one piece of machine code"
    position = next(k for k, each in enumerate(inputs) if each.shape == x.shape)

    def call(*args: torch.Tensor) -> tuple[torch.Tensor]:
        result = like.new_empty(shape)
        run([args[position].data_ptr()], [result.data_ptr()])
        return (result,)

    return call


if __name__ == "__main__":
    main()
