"""Models as TVM's own frontends read them, ready for the chip.

    module = from_torch(model, [x])          torch.export, then TVM's importer: Relax of floats
    integers = quantized(module, [x])        our quantizer, on the same graph
    compile(integers, PRESETS["npu"])        `door.py`

Relax can express 8-bit models but has nothing that makes them: scales are found here, on our graph
of what TVM has imported. Next room: `course_lib/compiler.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify
from course_lib.passes.quantize.to_int8 import whole
from course_lib.plugins.tvm.package import frontend
from course_lib.plugins.tvm.read import read


def from_torch(model: Any, inputs: Sequence[np.ndarray]) -> Any:
    """A torch.nn.Module in eval mode as a Relax module; its weights are constants in it.

    ValueError if PyTorch cannot export it, or TVM cannot import what was exported.
    """
    importer = frontend("torch")
    from course_lib.frontend.torch.export import exported  # torch is heavy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own, about itself
        return _imported(importer.from_exported_program, exported(model, inputs))


def from_onnx(model: str | Path | bytes) -> Any:
    """An ONNX file (or its bytes) as a Relax module; ValueError if TVM cannot import it."""
    importer = frontend("onnx")
    from course_lib.frontend.onnx.file import load_proto  # onnx is heavy

    return _imported(importer.from_onnx, load_proto(model)[0])


def _imported(importer: Callable[[Any], Any], model: Any) -> Any:
    try:
        return importer(model)
    except Exception as error:  # what its importers raise has no base class of its own
        raise ValueError(f"TVM cannot import this model: {error}") from error


def quantized(module: Any, sample: Sequence[np.ndarray]) -> Graph:
    """The integer graph of a float module, with ranges as large as those of the sample."""
    return verify(whole(verify(read(module["main"])), [sample]))
