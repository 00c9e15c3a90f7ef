"""The table of systems, and what each of them can be asked.

    ready = peer("torch.compile").prepare("block", threads=1)
    ready.call()       ->  [array of f32[1,128,256]]     on the inputs that it was prepared for
    ready.stages()     ->  {"fx graph": "...", ...}      every text that was made on the way
    ready.kernels()    ->  ["cpp_fused_...", ...]        what a call launches, in order

A new system is a file with a function `prepare(model, threads)` and a line in `PEERS`. Several
names of one file differ in its options, and what stands behind a + is one: no name has a comma or a
space, so names can be listed between commas in a shell. Next room: `model.py`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from shutil import which
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib import __version__
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
    packages   what it needs (`course_lib/packages.py`), that of the system first
    form       of `Model`, in which it takes a model: made before the clock starts
    tools      programs that must be on the PATH, each with what it is for; "a or b": one of them
    options    arguments of the file's `prepare`
    """

    name: str
    file: str
    packages: tuple[str, ...]
    form: str
    tools: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @takes
    def prepare(
        self, model: Any, inputs: Sequence[np.ndarray] | None = None, threads: int = 1
    ) -> Prepared:
        """The model, ready to run here. It is whatever `course_lib.compile` takes, or the name of
        one of the course's models; inputs may be left out where the model says what they are.

        MissingPackage where the system is not installed; ValueError in words where a tool is
        missing, and for a model that it cannot run.
        """
        for package in PACKAGES.keys() & self.packages:
            need(package)
        if lacks := lacking(self):
            raise ValueError(f"{self.name}: {lacks}")
        given = model_of(model, inputs)
        import_seconds, module = _timed(self._load)
        getattr(given, self.form)
        make = partial(module.prepare, given, threads, **self.options)
        compile_seconds, ready = _timed(make)
        ready.import_seconds, ready.compile_seconds = import_seconds, compile_seconds
        return ready

    def _load(self) -> Any:
        """Its file, and its packages, one of which the file imports late."""
        module = import_module(f"course_lib.peers.{self.file}")
        for package in self.packages:
            import_module(package)
        return module

    @property
    def version(self) -> str:
        """Of the system, and of what it stands on, as `pip` knows them: "onnxruntime 1.31.1"."""
        return ", ".join(map(_version, self.packages))


def _version(package: str) -> str:
    if package == "course_lib":  # also where it is a folder on the path, which pip does not know
        return f"course-lib {__version__}"
    pip = (PACKAGES[package].pip if package in PACKAGES else "") or package
    return f"{pip} {version(pip)}"


def _timed(do: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = do()
    return time.perf_counter() - start, result


def _row(name: str, file: str, packages: str, form: str, tools: Mapping[str, str] | None = None,
         **options: Any) -> Peer:  # fmt: skip
    return Peer(name, file, tuple(packages.split()), form, tools or {}, options)


GXX = {"g++": "torch.compile writes C++"}
CLANGS = ("clang", *(f"clang-{version}" for version in (22, 21, 20, 19, 18, 17, 16, 15, 14)))
CLANG = {" or ".join(CLANGS): "tinygrad writes C"}
PEERS = {
    row.name: row
    for row in (
        _row("course", "ours", "course_lib llvmlite", "source"),
        _row("course+winograd", "ours", "course_lib llvmlite", "source", winograd=True),
        _row("numpy", "ours", "numpy course_lib", "source", target="interpreter"),
        _row("torch-eager", "torch_eager", "torch", "module"),
        _row("torch.compile", "torch_compile", "torch", "module", GXX),
        _row("torch.compile+freezing", "torch_compile", "torch", "module", GXX, freezing=True),
        _row("onnxruntime+none", "onnxruntime", "onnxruntime", "onnx", level="none"),
        _row("onnxruntime+basic", "onnxruntime", "onnxruntime", "onnx", level="basic"),
        _row("onnxruntime+extended", "onnxruntime", "onnxruntime", "onnx", level="extended"),
        _row("onnxruntime", "onnxruntime", "onnxruntime", "onnx"),
        _row("openvino", "openvino", "openvino", "onnx"),
        _row("mnn", "mnn", "MNN", "onnx"),
        _row("jax", "jax", "jax", "graph"),
        _row("iree", "iree", "iree", "onnx"),
        _row("iree+O3", "iree", "iree", "onnx", flags=("--iree-opt-level=O3",)),
        _row("iree+data-tiling", "iree", "iree", "onnx", flags=("--iree-opt-data-tiling",)),
        _row("tvm", "tvm", "tvm", "onnx"),
        _row("tvm+tuned", "tvm", "tvm", "onnx", tuned=True),
        _row("tinygrad", "tinygrad", "tinygrad", "onnx", CLANG),
        _row("tinygrad+beam2", "tinygrad", "tinygrad", "onnx", CLANG, beam=2),
    )
}


@takes
def peer(name: str) -> Peer:
    """The system of that name. ValueError that names the nearest one and all, for another name."""
    if name not in PEERS:
        raise ValueError(unknown(name))
    return PEERS[name]


def unknown(name: str) -> str:
    """What to say where no system has that name."""
    plain = {known.lower(): known for known in PEERS}
    near = [known for word, known in plain.items() if len(name) > 2 and name.lower() in word]
    near += [plain[word] for word in get_close_matches(name.lower(), plain, 1)]
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"there is no system {name[:40]!r}; {meant}the systems are {', '.join(PEERS)}"


def lacking(found: Peer) -> str:
    """What a system lacks on this machine, in words; "" if it is there. Nothing is imported."""
    for package in found.packages:
        if package in PACKAGES and find_spec(package) is None:
            return missing(package)
    absent = [f"{tool} ({use})" for tool, use in found.tools.items()
              if not any(map(which, tool.split(" or ")))]  # fmt: skip
    return f"it needs {', '.join(absent)}" if absent else ""
