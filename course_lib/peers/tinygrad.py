"""tinygrad: its own ONNX reader, TinyJit, and clang for the kernels that it writes in C.

    peer("tinygrad").prepare("mlp").kernels()    ->   ["r_512_196_4", ...]
    peer("tinygrad+beam2")                       a search, with times, for a schedule of each kernel

A call is a replay of what TinyJit has captured: the kernels one after the other. What depends on no
input is computed once (`prune`). tinygrad names a kernel by its loops, so different kernels may
have one name: here the second of them ends in n1, as in `r_8_4n1`, the third in n2. Settings are
those of `plugins/tinygrad/session.py`, whatever the environment says: nothing is kept on disk, and
the search compiles in this process. tinygrad 0.14 runs all on one thread, and compiles a few lines
of its own by clang when it opens the processor as a device, so its LLVM renderer would not do
without clang. Next room: `plugins/tinygrad`, where our chips are devices of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from io import StringIO
from shutil import which
from typing import Any
from unittest import mock

import numpy as np
from tinygrad.engine.jit import TinyJit
from tinygrad.engine.realize import compile_linear, get_call_arg_uops
from tinygrad.helpers import ansistrip, getenv
from tinygrad.tensor import Tensor
from tinygrad.uop import Ops
from tinygrad.uop.ops import UOp
from tinygrad.uop.render import print_uops, pyrender

from course_lib.peers.model import Model
from course_lib.peers.peer import CLANGS, Prepared
from course_lib.plugins.tinygrad.models import reader
from course_lib.plugins.tinygrad.session import session


class Tinygrad(Prepared):
    """The model, captured by TinyJit."""

    def __init__(self, model: Model, threads: int, beam: int) -> None:
        self.settings = {"BEAM": beam, "NUM_CPU_THREADS": threads, "TC_OPT": 0}
        with self._session(BEAM=0):  # nothing to search for in copies of weights
            self.runner = reader(model.onnx)
            weights = [v for v in self.runner.graph_values.values() if isinstance(v, Tensor)]
            self.inputs = [Tensor(x).realize() for x in model.inputs]
            Tensor.realize(*self.inputs, *weights)
        self.names: dict[str, list[str]] = {}  # by name, the kernels that have it, in C
        self.jit = TinyJit(self._results, prune=True)
        with self._session():
            for _ in range(3):  # as it stands, captured, replayed
                self.jit(*self.inputs)
        self.kernels()  # so that names do not depend on what is asked for first

    def call(self) -> list[np.ndarray]:
        with self._session():
            return [np.array(tensor.numpy()) for tensor in self.jit(*self.inputs)]

    def stages(self) -> dict[str, str]:
        """Of the model, and then of every kernel; kernels that are alike have their texts once."""
        with self._session():
            first, *others = self._results(*self.inputs)
            roots = UOp.sink(*[tensor.uop for tensor in (first, *others)])
            schedule = first.schedule_linear(*others)
            compiled = compile_linear(schedule)  # from what is known: nothing is searched again
            texts = {
                "tensors": self._buffers(roots) + pyrender(roots),
                "schedule": "".join(f"{self._launch(call)}\n" for call in compiled.src),
            }
            for call, ready in zip(schedule.src, compiled.src, strict=True):
                if ready.src[0].op is Ops.PROGRAM:
                    texts |= _texts(self._name(ready), call.src[0], ready.src[0])
        return texts

    def kernels(self) -> list[str]:
        """The kernels of a replay. Those that depend on no input have run before."""
        assert self.jit.captured is not None
        return [self._name(call) for call in self.jit.captured.linear.src]

    def _name(self, call: UOp) -> str:
        kernel = call.src[0]
        if kernel.op is not Ops.PROGRAM:
            return kernel.op.name.lower()
        name, source = kernel.arg.function_name, kernel.src[2].arg
        known = self.names.setdefault(name, [])
        if source not in known:
            known.append(source)
        return f"{name}n{known.index(source)}" if source != known[0] else name

    def _launch(self, call: UOp) -> str:
        """A kernel and its buffers, the result first: `r_512_196_4(b7: 512 float, b1: 784 float)`.
        Of a buffer that many share, the byte as well: `b9+2048: 512 float`."""
        shown = []
        for view in get_call_arg_uops(call):
            nodes = view.toposort()
            buffer = next(u for u in nodes if u.op is Ops.BUFFER)
            start = next((u.src[1].arg for u in nodes if u.op is Ops.SHRINK), 0)
            at = f"+{start}" if start else ""
            shown.append(f"b{buffer.arg.slot}{at}: {view.max_numel()} {view.dtype.name}")
        return f"{self._name(call)}({', '.join(shown)})"

    def _buffers(self, roots: UOp) -> str:
        """Which buffers of the graph are the model's inputs and weights."""
        inputs = dict(zip(self.runner.graph_inputs, self.inputs, strict=True))
        slots = {u.arg.slot for u in roots.toposort() if u.op is Ops.BUFFER}
        words: dict[int, str] = {}
        for name, value in (inputs | self.runner.graph_values).items():
            base = value.uop.base if isinstance(value, Tensor) else None
            if base is not None and base.op is Ops.BUFFER and base.arg.slot in slots:
                words.setdefault(base.arg.slot, f"an input, {name}" if name in inputs else name)
        return "".join(f"# b{slot} is {word}\n" for slot, word in words.items())

    def _results(self, *tensors: Tensor) -> list[Tensor]:
        return list(self.runner(dict(zip(self.runner.graph_inputs, tensors, strict=True))).values())

    def _session(self, **settings: int) -> AbstractContextManager[Any]:
        return session("CPU", **{**self.settings, **settings})


def prepare(model: Model, threads: int, beam: int = 0) -> Tinygrad:
    """The model, captured; `beam`: how many schedules of a kernel its search keeps at a time.

    ValueError for a model that tinygrad cannot read or run, or where there is no clang.
    """
    _choose_clang()
    try:
        return Tinygrad(model, threads, beam)
    except Exception as error:  # an op without a row, sizes that it refuses: they have no one base
        raise ValueError(f"tinygrad cannot run this model: {error}") from error


def _texts(name: str, ast: UOp, program: UOp) -> dict[str, str]:
    """Of a kernel: as it is scheduled, with its optimizations, as a list, in C."""
    optimized, linear, source, _ = program.src
    decisions = "".join(f"# {opt}\n" for opt in optimized.arg.applied_opts)
    return {
        f"{name}: AST": pyrender(ast),
        f"{name}: optimized": decisions + pyrender(optimized),
        f"{name}: linear": _listed(linear.src),
        f"{name}: C": source.arg,
    }


def _listed(uops: Sequence[UOp]) -> str:
    """tinygrad's own list of them, which it prints in colours."""
    with redirect_stdout(StringIO()) as printed:
        print_uops(list(uops))
    return ansistrip(printed.getvalue())


def _choose_clang() -> None:
    """tinygrad asks the environment for its compiler once, and then remembers the answer."""
    found = next(filter(None, map(which, CLANGS)), None)
    if found is None:
        raise ValueError(f"tinygrad writes C and needs {' or '.join(CLANGS)}")
    with mock.patch.dict(os.environ, {"CC": found}):
        getenv("CC", "clang")
