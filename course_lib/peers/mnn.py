"""MNN on the processor: an engine for small devices, which has a file format of its own.

    converted     the file after MNN's converter: ops fused, images in blocks of four channels
                  (`ConvertTensor`), as JSON without the weights, an op a line

The converter fuses, and turns products with constant matrices into convolutions. When the file is
loaded, each op gets its way of being computed: whether that is Winograd, and in which tile, is
decided there, and nothing shows it but the numbers. Whole numbers whose sums f32 holds exactly come
back exactly from a convolution that multiplies what it should; from MNN 3.6.1, 64 channels of
56x56, by 3x3, come back with errors of up to 2.9 in 2769, and a 7x7 convolution does, too; a 1x1
does not, nor 3x3 on 7x7 pixels.

Precision is asked to be `high`, f32. On x86 `normal` and `low` gave the same bits; where a
processor has halves, they may not. Integers are i32 to MNN: i64 at the border are handed over as
i32, and one that does not fit is an error. The converter's module in the package
(`MNN.tools.mnnconvert`) installs a package and asks a server as soon as it is imported; here its
machine code is called without it. Next room: `jax.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from course_lib.ir.types import TensorType
from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.scratch import Folder


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """What the library prints goes nowhere: its C++ writes to the process' own output."""
    kept, nothing = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    try:
        for number in (1, 2):
            os.dup2(nothing, number)
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # before it is too late
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)
        os.close(nothing)


with silence():
    import _tools
    import MNN

F = MNN.expr
KINDS = {"f32": (F.float, np.float32), "i32": (F.int, np.int32), "i64": (F.int, np.int32),
         "u8": (F.uint8, np.uint8)}  # fmt: skip
ENDS = ("onnx", "mnn")
LONG = 16  # numbers in a list that a text still shows


class Mnn(Prepared):
    def __init__(self, model: Model, threads: int) -> None:
        self.model, graph = model, model.graph
        self.types = [output.type for output in graph.outputs]
        self.threads = threads
        self._folder = Folder("course-mnn-")
        with silence():
            self.file = self.converted(model.onnx)
            names = [[v.name for v in values] for values in interface(model.onnx)]
            self.net = MNN.nn.load_module_from_file(
                str(self.file), *names, backend=F.Backend.CPU, thread_num=threads,
                precision_mode=F.PrecisionMode.High, shape_mutable=False,
            )  # fmt: skip
            self.inputs = [handed(node.type, x) for node, x in zip(graph.inputs, model.inputs,
                                                                   strict=True)]  # fmt: skip

    def converted(self, file: bytes, *options: str) -> Path:
        """The ONNX file as one of MNN's. GELU is to be GELU, not its approximation."""
        source, target = (Path(self._folder.path) / f"{len(options)}.{end}" for end in ENDS)
        source.write_bytes(file)
        done = _tools.mnnconvert(
            ["mnnconvert", "-f", "ONNX", "--modelFile", str(source), "--MNNModel", str(target),
             "--bizCode", "course", "--useGeluApproximation", "0", *options]
        )  # fmt: skip
        if not done or not target.exists():
            raise ValueError("MNN cannot convert this model: an operation in it is not known to it")
        return target

    def call(self) -> list[np.ndarray]:
        results = self.net.forward(self.inputs)
        return [back(result, kind) for result, kind in zip(results, self.types, strict=True)]

    def stages(self) -> dict[str, str]:
        text = Path(self._folder.path) / "model.json"
        with silence():
            small = self.converted(self.model.onnx, "--benchmarkModel")  # without its weights
            _tools.mnnconvert(
                ["mnnconvert", "-f", "MNN", "--modelFile", str(small), "--JsonFile", str(text)]
            )
        net = shortened(json.loads(text.read_text("utf-8")))
        return {
            "converted": "\n".join(map(json.dumps, net.pop("oplists"))) + f"\n{json.dumps(net)}"
        }

    def kernels(self) -> list[str]:
        """What a session of the file runs, in order: MNN calls us before each op. A `Raster` moves
        elements; reshapes, transposes and concatenations have become such."""
        ran: list[str] = []

        def before(tensors: Any, op: Any) -> bool:
            ran.append(f"{op.getType()} {op.getName()}")
            return True

        with silence():
            net = MNN.Interpreter(str(self.file))
            session = net.createSession(
                {"backend": "CPU", "numThread": self.threads, "precision": "high"}
            )
            net.runSessionWithCallBackInfo(session, before, lambda tensors, op: True)
        return ran


def prepare(model: Model, threads: int) -> Mnn:
    """The model's ONNX file, converted, and loaded in high precision."""
    return Mnn(model, threads)


def interface(file: bytes) -> tuple[Any, Any]:
    """The inputs and the outputs that an ONNX file declares; weights are no inputs."""
    graph = onnx.load_from_string(file).graph
    weights = {tensor.name for tensor in graph.initializer}
    return [v for v in graph.input if v.name not in weights], list(graph.output)


def handed(kind: TensorType, array: np.ndarray) -> Any:
    """An array as a variable of MNN's. ValueError for one that it has no type for."""
    if kind.dtype.name not in KINDS:
        raise ValueError(f"MNN takes inputs of {', '.join(KINDS)}; this model has one of {kind}")
    code, numpy = KINDS[kind.dtype.name]
    narrow = array.astype(numpy)
    if not np.array_equal(narrow, array, equal_nan=True):
        raise ValueError(f"MNN takes integers as i32, and an input of {kind} holds larger ones")
    variable = F.placeholder(list(kind.dims), F.NCHW, code)
    variable.write(np.ascontiguousarray(narrow))
    return variable


def back(result: Any, kind: TensorType) -> np.ndarray:
    """A result as an array of the model's type, row after row."""
    array = np.array(F.convert(result, F.NCHW).read(), kind.dtype.numpy)
    return array.reshape(kind.dims)


def shortened(value: Any) -> Any:
    """A tree of JSON without its long lists of numbers."""
    if isinstance(value, dict):
        return {key: shortened(v) for key, v in value.items()}
    if isinstance(value, list) and len(value) > LONG and not isinstance(value[0], (dict, str)):
        return f"{len(value)} numbers"
    return [shortened(v) for v in value] if isinstance(value, list) else value
