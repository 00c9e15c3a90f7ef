"""OpenVINO on the processor: its plug-in for x86, which calls oneDNN, MLAS and kernels of its own.

    read       the ONNX file as a graph of OpenVINO's operations (its IR, without the weights)
    common     after the transformations that all of its devices share: folded, simplified, fused
    runtime    what is executed: the layers, their layouts, and the kernel chosen for each

To compile is to do the common transformations, then those of the processor's plug-in, to choose a
layout and a kernel for each layer, and to reorder the weights for them. Of the plug-in's own steps
only the result is seen: `runtime`, in which `originalLayersNames` says where a layer is from, and
`primitiveType` what computes it. A `Subgraph` is a group that the plug-in wrote code for. f32 is
asked for: where the processor has bf16, OpenVINO may take that by itself.

As it comes, `import openvino` leaves files in the user's folder and tells a server that it was
imported. It does neither if it does not find the package that does so. Next room: `mnn.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.scratch import Folder

sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # not to be found
import openvino  # noqa: E402
from openvino._offline_transformations import apply_moc_transformations  # noqa: E402

NOTHING_RUNS = ("Input", "Const", "Output")


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
        self.inputs = [np.array(x, order="C") for x in model.inputs]  # read where they lie
        for k, x in enumerate(self.inputs):
            self.request.set_input_tensor(k, openvino.Tensor(x, shared_memory=True))

    def call(self) -> list[np.ndarray]:
        self.request.infer()
        outputs = range(len(self.compiled.outputs))
        return [np.array(self.request.get_output_tensor(k).data) for k in outputs]

    def stages(self) -> dict[str, str]:
        common = self.source.clone()
        apply_moc_transformations(common, False)
        models = {"read": self.source, "common": common,
                  "runtime": self.compiled.get_runtime_model()}  # fmt: skip
        return {name: as_xml(model) for name, model in models.items()}

    def kernels(self) -> list[str]:
        """The layers in the order of their execution: their type, the primitive that computes
        them, and what went into them."""
        layers = []
        for node in self.compiled.get_runtime_model().get_ordered_ops():
            about = {name: value.astype(str) for name, value in node.get_rt_info().items()}
            names = about.get("originalLayersNames", "")
            shown = f"{about['layerType']} {about['primitiveType']} {names}".strip()
            if about["layerType"] not in NOTHING_RUNS:
                layers.append((int(about["execOrder"]), shown))
        return [shown for _, shown in sorted(layers)]


def prepare(model: Model, threads: int) -> Openvino:
    """The model's ONNX file, compiled for latency on so many threads."""
    return Openvino(model, threads)


def as_xml(model: openvino.Model) -> str:
    """A model of OpenVINO's as its IR, whose weights are another file."""
    folder = Folder("course-openvino-")
    try:
        path = Path(folder.path) / "model.xml"
        openvino.serialize(model, path, path.with_suffix(".bin"))
        return path.read_text("utf-8")
    finally:
        folder.close()
