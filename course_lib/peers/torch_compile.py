"""torch.compile with its default backend, Inductor, which writes C++ for a processor.

    fx graph       as Dynamo captured it from the bytecode: calls of torch
    aten graph     what AOTAutograd made of it, and Inductor's passes over the graph
    ir             Inductor's loops, a node for each operation     ir, fused   and after fusion
    code           the Python that calls the kernels, with their C++ in it

A graph break makes several of each ("fx graph 2"). `freezing`: the weights are constants of the
code, which may fold and reorder them. What Inductor writes can be read without a C++ compiler:

    with uncompiled():
        prepare(model_of("mlp"), threads=1).stages()["code"]

Next room: `onnxruntime.py`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch._inductor import config as inductor
from torch._inductor import cpu_vec_isa
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.utils import run_and_get_code

from course_lib.peers.model import Model
from course_lib.peers.torch_eager import Eager

# A call of the wrapper: its own C++, a library through `extern_kernels`, or an operation of torch.
CALL = re.compile(r"^ +(?:\w+ = )?(cpp_\w+|(?:extern_kernels|torch\.ops|aten)\.[\w.]+)\(", re.M)


class Compiled(Eager):
    """The module by torch.compile, compiled by its first call, which is made here."""

    def __init__(self, model: Model, threads: int, freezing: bool) -> None:
        super().__init__(model, threads)
        self.texts: dict[str, str] = {}
        self.function = torch.compile(model.module, backend=self._backend)
        settings = {
            "freezing": freezing,
            "force_disable_caches": True,  # what is found there is not compiled, and has no stages
            "compile_threads": 1,  # more are processes of their own
            "_pre_fusion_custom_pass": self._ir_seen("ir"),
            "_post_fusion_custom_pass": self._ir_seen("ir, fused"),
        }
        with inductor.patch(settings), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "dynamo_pgo")  # that its cache is off, as we asked
            _, self.code = run_and_get_code(self.call)  # forgets what was compiled before
        for text in self.code:
            self._see("code", text)

    def stages(self) -> dict[str, str]:
        return self.texts

    def kernels(self) -> list[str]:
        """The calls that the wrappers make: C++ of their own by its name, and libraries."""
        return [name for text in self.code for name in CALL.findall(text)]

    def _backend(self, module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        """Inductor, as torch.compile calls it by itself, but that the graphs are seen."""
        self._see("fx graph", _python(module))
        return compile_fx(module, inputs, inner_compile=self._inner)

    def _inner(self, module: torch.fx.GraphModule, inputs: Sequence[Any], **more: Any) -> Any:
        self._see("aten graph", _python(module))
        return compile_fx_inner(module, inputs, **more)

    def _ir_seen(self, name: str) -> Callable[[list[Any]], list[Any]]:
        """A pass of Inductor's scheduler that changes nothing. Settings are copied with all that
        they hold, and of all that can be called only a function is not copied."""

        def see(nodes: list[Any]) -> list[Any]:
            self._see(name, "\n\n".join(node.debug_str() for node in nodes))
            return nodes

        return see

    def _see(self, name: str, text: str) -> None:
        names = [name, *(f"{name} {k}" for k in range(2, len(self.texts) + 3))]
        self.texts[next(free for free in names if free not in self.texts)] = text


def prepare(model: Model, threads: int, freezing: bool = False) -> Compiled:
    """The torch module as Inductor compiles it."""
    return Compiled(model, threads, freezing)


@contextmanager
def uncompiled() -> Iterator[None]:
    """Inductor writes C++ for one thread and AVX-512, whatever runs here, and nobody compiles it:
    what is called meanwhile computes nothing."""
    settings = {"cpp.vec_isa_ok": True, "cpp.threads": 1, "force_disable_caches": True}
    silent = patch.object(AsyncCompile, "cpp_pybinding", lambda *_, **__: lambda *_: None)
    wide = patch.object(cpu_vec_isa, "pick_vec_isa", cpu_vec_isa.VecAVX512)
    with silent, wide, inductor.patch(settings):
        yield


def _python(module: torch.fx.GraphModule) -> str:
    return module.print_readable(print_output=False)
