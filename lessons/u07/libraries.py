"""The product of unit 7 in libraries of others, on one thread: numpy, torch and onnxruntime.

    blas_rates([(768, 768, 768)])            # FLOP/s of numpy's product
    libraries_table([(768, 768, 768)], {})   # all three, and whose kernels they call

Each runs in a process of its own, because how many threads a library uses is settled when it is
imported. Next room: native.py.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.draw.plots.table import table
from course_lib.ir.graph.parse import parse_graph
from course_lib.peers.onnxruntime import onnxruntime_session
from lessons.u07.products import Sizes, rates

REPEAT = 20  # how often a product is timed
NAMES = ("numpy", "torch", "onnxruntime")


def blas_rates(products: Sequence[Sizes], repeat: int = REPEAT) -> list[float]:
    """FLOP/s of numpy's product of some sizes on one thread."""
    return _run("numpy", products, repeat)[1]


def blas_core() -> str:
    """The processor for which pip's OpenBLAS has chosen its kernels."""
    for path in Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*"):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename64_"):
            if function := getattr(library, name, None):
                function.restype = ctypes.c_char_p
                return function().decode()
    return "(it does not say which kernels it has chosen)"


def libraries_table(products: Sequence[Sizes], ours: Mapping[str, Sequence[float]]) -> Any:
    """GFLOP/s of some products in each library that is installed, below those of `ours`."""
    rows: list[list[Any]] = [
        [name, "LLVM", *(one / 1e9 for one in speeds)] for name, speeds in ours.items()
    ]
    for name in NAMES:
        if find_spec(name) is None:
            rows.append([f"{name} (not installed)", "", *(None for _ in products)])
            continue
        kernels, flops = _run(name, products, REPEAT)
        rows.append([f"{name} {version(name)}", kernels, *(one / 1e9 for one in flops)])
    heads = [f"{m} × {n} × {k} (GFLOP/s)" for m, n, k in products]
    return table(rows, ["product", "kernels", *heads])


def _run(name: str, products: Sequence[Sizes], repeat: int) -> tuple[str, list[float]]:
    libraries = ("OPENBLAS", "MKL", "OMP", "VECLIB", "BLIS")
    one = {f"{library}_{part}_THREADS": "1" for library in libraries for part in ("NUM", "MAXIMUM")}
    environment = os.environ | one | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    sizes = [",".join(map(str, each)) for each in products]
    command = [sys.executable, "-W", "ignore", "-m", __name__, name, str(repeat), *sizes]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    kernels, *flops = done.stdout.splitlines()
    return kernels, [float(one) for one in flops]


def _numpy(sizes: Sizes) -> tuple[str, Callable[..., np.ndarray]]:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    return blas.replace("scipy-openblas", "OpenBLAS"), lambda x, w: x @ w


def _torch(sizes: Sizes) -> tuple[str, Callable[..., np.ndarray]]:
    import torch

    torch.set_num_threads(1)
    blas = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    kernels = {"mkl": "MKL", "open": "OpenBLAS"}.get(blas[1], blas[1]) if blas else ""
    return kernels, lambda x, w: (torch.from_numpy(x) @ torch.from_numpy(w)).numpy()


def _onnxruntime(sizes: Sizes) -> tuple[str, Callable[..., np.ndarray]]:
    from course_lib.frontend.onnx.write import to_onnx  # onnx is heavy

    m, n, k = sizes
    graph = parse_graph(f"""
graph @product(%x: f32[{m},{k}], %w: f32[{k},{n}]) -> (f32[{m},{n}]) {{
  %out = matmul(%x, %w) : f32[{m},{n}]
  return %out
}}""")
    session = onnxruntime_session(to_onnx(graph).SerializeToString(), threads=1)
    return "MLAS", lambda x, w: session([x, w])[0]


def _main(name: str, repeat: str, *products: str) -> None:
    prepare = {"numpy": _numpy, "torch": _torch, "onnxruntime": _onnxruntime}[name]
    rates_of = []
    for text in products:
        m, n, k = map(int, text.split(","))
        kernels, run = prepare((m, n, k))
        rates_of.append(rates({name: run}, (m, n, k), int(repeat))[name])
    print(kernels, *rates_of, sep="\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
