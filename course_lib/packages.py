"""Optional packages: what needs each of them, and how to get it.

    need("llvmlite")    ->   nothing where it is there, and where it is not, a `MissingPackage`:
                             machine code needs the package llvmlite: pip install 'course-lib[llvm]'

Whoever imports one of them late asks here first; `targets/target.py` does, before it imports what a
target stands on.
Next room: `ir`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple


class Package(NamedTuple):
    """What needs it, the extra of pyproject.toml that brings it, pip's name for it if another."""

    by: str
    extra: str
    pip: str = ""


PACKAGES = {
    "torch": Package("a PyTorch model", "torch"),
    "onnx": Package("an ONNX model", "torch"),
    "onnxruntime": Package("--compare onnxruntime", "torch"),
    "onnxscript": Package("PyTorch's ONNX exporter", "torch"),
    "llvmlite": Package("machine code", "llvm"),
    "matplotlib": Package("a chart", "lab"),
    "graphviz": Package("a layout by Graphviz", "lab"),
    "hypothesis": Package("a check on many programs", "lab"),
    "islpy": Package("isl", "isl"),
    "xdsl": Package("a dialect of MLIR", "mlir"),
    "filecheck": Package("a test by FileCheck", "mlir"),
    "tinygrad": Package("the door to tinygrad", "lab"),
    "tvm": Package("TVM", "peers", "apache-tvm"),
    "iree": Package("IREE", "peers", "iree-base-compiler"),
    "jax": Package("JAX", "peers"),
    "openvino": Package("OpenVINO", "peers"),
    "MNN": Package("MNN", "peers"),
    "torch_mlir": Package("torch-mlir", "peers", "torch-mlir"),
    "distributed": Package("Dask, for several machines,", "cluster"),
    "cryptography": Package("a Dask cluster of one's own", "cluster"),
}


class MissingPackage(ModuleNotFoundError, ValueError):
    """An optional package is not installed. The message says what needs it, and how to get it."""

    def __init__(self, name: str):
        super().__init__(missing(name), name=name)


def need(name: str) -> None:
    """Raise `MissingPackage` unless this package could be imported. Nothing is imported."""
    if find_spec(name) is None:
        raise MissingPackage(name)


def missing(name: str) -> str:
    """What needs this package, and how to install it."""
    package = PACKAGES[name]
    return f"{package.by} needs the package {package.pip or name}: {install(name)}"


def install(name: str) -> str:
    """The command that installs this package, in the version that the course knows."""
    return f"pip install 'course-lib[{PACKAGES[name].extra}]'"


def missing_in(error: ModuleNotFoundError) -> str:
    """The same about an import that has failed somewhere; empty if it is no package of these."""
    name = (error.name or "").partition(".")[0]
    return missing(name) if name in PACKAGES else ""
