"""OpenVINO on the processor: its plug-in for x86, which calls oneDNN and kernels of its own.

    read       the ONNX file as a graph of OpenVINO's operations (IR, without weights)
    runtime    what is executed: layers fused and laid out, each with the kernel chosen for it

When it compiles, it folds constants, fuses, chooses a layout and a kernel for each layer, and
reorders the weights for them. What happens in between leaves no text in the package from PyPI: of
the common and the CPU's own transformations only the result is seen. f32 is asked for, since where
the processor has bf16 it may take that by itself. Next room: `mnn.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.scratch import Folder

os.environ.setdefault("OPENVINO_TELEMETRY", "0")
import openvino  # noqa: E402


class Openvino(Prepared):
    def __init__(self, model: Model, threads: int) -> None:
        core = openvino.Core()
        try:
            self.source = core.read_model(model.onnx)
            self.compiled = core.compile_model(self.source, "CPU", {
                "INFERENCE_NUM_THREADS": threads,
                "INFERENCE_PRECISION_HINT": "f32",
                "PERFORMANCE_HINT": "LATENCY",
                "NUM_STREAMS": 1,
            })  # fmt: skip
        except RuntimeError as error:
            raise ValueError(f"OpenVINO cannot run this model: {error}") from error
        self.request = self.compiled.create_infer_request()
        self.kept = [np.array(x, order="C") for x in model.inputs]
        for k, x in enumerate(self.kept):
            self.request.set_input_tensor(k, openvino.Tensor(x, shared_memory=True))

    def call(self) -> list[np.ndarray]:
        self.request.infer()
        outputs = range(len(self.compiled.outputs))
        return [np.array(self.request.get_output_tensor(k).data) for k in outputs]

    def stages(self) -> dict[str, str]:
        return {"read": as_xml(self.source), "runtime": as_xml(self.compiled.get_runtime_model())}

    def kernels(self) -> list[str]:
        """The layers in the order of their execution, each with its primitive and the operations
        that went into it. Constants, inputs and results run nothing."""
        layers = []
        for node in self.compiled.get_runtime_model().get_ordered_ops():
            about = {name: str(value.astype(str)) for name, value in node.get_rt_info().items()}
            if about["layerType"] not in ("Input", "Const", "Output"):
                layers.append(about)
        layers.sort(key=lambda about: int(about["execOrder"]))
        return [
            f"{a['layerType']} {a['primitiveType']} {a.get('originalLayersNames', '')}".strip()
            for a in layers
        ]


def prepare(model: Model, threads: int) -> Openvino:
    """The model's ONNX file, compiled for latency on so many threads."""
    return Openvino(model, threads)


def as_xml(model: openvino.Model) -> str:
    """A model of OpenVINO's as its IR, without its weights, which are another file."""
    folder = Folder("course-openvino-")
    try:
        path = Path(folder.path) / "model.xml"
        openvino.serialize(model, path, Path(folder.path) / "model.bin")
        return path.read_text("utf-8")
    finally:
        folder.close()
