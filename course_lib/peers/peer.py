"""The table of systems, and what each of them can be asked.

    ready = peer("torch.compile").prepare("block", threads=1)
    ready.call()       ->  [array of f32[1,128,256]]     on the inputs that it was prepared for
    ready.stages()     ->  {"fx graph": "...", ...}      every text that was made on the way
    ready.kernels()    ->  ["cpp_fused_...", ...]        what a call launches, in order

A new system is a file with a function `prepare(model, threads)` and a line in `PEERS`. What differs
between several names of one file is its options. Next room: `model.py`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from shutil import which
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib.arguments import takes
from course_lib.packages import PACKAGES, missing, need
from course_lib.peers.model import model_of


class Prepared(ABC):
    """A model that is ready to run in one system: its first call has nothing left to compile.

    import_seconds    how long it took to load the system
    compile_seconds   and to make this of a model
    """

    import_seconds = compile_seconds = 0.0

    @abstractmethod
    def call(self) -> list[np.ndarray]:
        """Run on the inputs that it was prepared for: the model's outputs, in order."""

    @abstractmethod
    def stages(self) -> dict[str, str]:
        """Every text that the system made on the way, by name, in order, from the model down."""

    @abstractmethod
    def kernels(self) -> list[str]:
        """What one call launches, in order, by the names that the system gives."""


@dataclass(frozen=True)
class Peer:
    """A system by the name that tables show.

    file       in this room
    packages   what it needs (`course_lib/packages.py`); the first one's version is the system's
    tools      programs that must be on the PATH, each with what it is for; "a or b": one of them
    options    arguments of the file's `prepare`
    """

    name: str
    file: str
    packages: tuple[str, ...]
    tools: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @takes
    def prepare(
        self, model: Any, inputs: Sequence[np.ndarray] | None = None, threads: int = 1
    ) -> Prepared:
        """The model, ready to run here. It is whatever `course_lib.compile` takes, or the name of
        one of the course's models; inputs may be left out where the model says what they are.

        MissingPackage where the system is not installed; ValueError in words for a model that it
        cannot run.
        """
        for package in self.packages:
            need(package)
        given = model_of(model, inputs)
        start = time.perf_counter()
        module = import_module(f"course_lib.peers.{self.file}")
        loaded = time.perf_counter()
        ready = module.prepare(given, threads, **self.options)
        ready.import_seconds = loaded - start
        ready.compile_seconds = time.perf_counter() - loaded
        return ready

    @property
    def version(self) -> str:
        """Of the system, as `pip` knows it: "onnxruntime 1.31.1"."""
        first = self.packages[0]
        pip = PACKAGES[first].pip or first if first in PACKAGES else first
        return f"{pip} {version(pip)}"


def _row(name: str, file: str, packages: str, tools: Mapping[str, str] | None = None,
         **options: Any) -> Peer:  # fmt: skip
    return Peer(name, file, tuple(packages.split()), tools or {}, options)


GXX = {"g++": "torch.compile writes C++"}
CLANGS = ("clang", *(f"clang-{version}" for version in (22, 21, 20, 19, 18, 17, 16, 15, 14)))
CLANG = {" or ".join(CLANGS): "tinygrad writes C"}
PEERS = {
    row.name: row
    for row in (
        _row("course", "ours", "llvmlite"),
        _row("course, Winograd", "ours", "llvmlite", winograd=True),
        _row("torch eager", "torch_eager", "torch"),
        _row("torch.compile", "torch_compile", "torch", GXX),
        _row("torch.compile, freezing", "torch_compile", "torch", GXX, freezing=True),
        _row("onnxruntime, none", "onnxruntime", "onnxruntime", level="none"),
        _row("onnxruntime, basic", "onnxruntime", "onnxruntime", level="basic"),
        _row("onnxruntime, extended", "onnxruntime", "onnxruntime", level="extended"),
        _row("onnxruntime", "onnxruntime", "onnxruntime"),
        _row("openvino", "openvino", "openvino"),
        _row("mnn", "mnn", "MNN"),
        _row("jax", "jax", "jax"),
        _row("iree", "iree", "iree"),
        _row("iree, O3", "iree", "iree", flags=("--iree-opt-level=O3",)),
        _row("iree, data tiling", "iree", "iree", flags=("--iree-opt-data-tiling",)),
        _row("tvm", "tvm", "tvm"),
        _row("tvm, tuned", "tvm", "tvm", tuned=True),
        _row("tinygrad", "tinygrad", "tinygrad", CLANG),
        _row("tinygrad, BEAM 2", "tinygrad", "tinygrad", CLANG, beam=2),
    )
}


def peer(name: str) -> Peer:
    """The system of that name. ValueError that lists the names, for another one."""
    if name not in PEERS:
        raise ValueError(f"a system is one of {', '.join(PEERS)}; got {name!r}")
    return PEERS[name]


def lacking(found: Peer) -> str:
    """What a system lacks on this machine, in words; "" if it is there. Nothing is imported."""
    for package in found.packages:
        if find_spec(package) is None:
            return missing(package)
    absent = [f"{tool} ({use})" for tool, use in found.tools.items()
              if not any(map(which, tool.split(" or ")))]  # fmt: skip
    return f"it needs {', '.join(absent)}" if absent else ""
