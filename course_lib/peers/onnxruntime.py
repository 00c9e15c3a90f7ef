"""onnxruntime: a session of a file, at each of its levels of optimization.

    run = onnxruntime_session("model.onnx", threads=1)
    run([x])  ->  [y]                        the witness that much of the course compares with

    none       the file as it stands                 extended   and fusions of several ops
    basic      constants folded, dead nodes gone     all        and images in blocked layouts

Next room: `openvino.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.packages import need
from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.scratch import Folder

Runner = Callable[[Sequence[np.ndarray]], list[np.ndarray]]
LEVELS = {
    "none": "DISABLE_ALL",
    "basic": "ENABLE_BASIC",
    "extended": "ENABLE_EXTENDED",
    "all": "ENABLE_ALL",
}


class Onnxruntime(Prepared):
    def __init__(self, model: Model, threads: int, level: str) -> None:
        from onnxruntime import GraphOptimizationLevel as Level

        self.model = model
        folder = Folder("course-onnxruntime-")
        try:
            file = Path(folder.path) / "optimized.onnx"
            self.session = session(
                model.onnx,
                intra_op_num_threads=threads,
                graph_optimization_level=getattr(Level, f"ORT_{LEVELS[level]}"),
                optimized_model_filepath=str(file),
            )
            self.optimized = file.read_bytes()
        except Exception as error:  # its own exceptions have no base class but this
            raise ValueError(f"onnxruntime cannot run this model: {error}") from error
        finally:
            folder.close()
        names = [value.name for value in self.session.get_inputs()]
        self.given = dict(zip(names, model.inputs, strict=True))

    def call(self) -> list[np.ndarray]:
        return self.session.run(None, self.given)

    def stages(self) -> dict[str, str]:
        files = {"onnx": self.model.onnx, "optimized": self.optimized}
        return {name: as_text(data) for name, data in files.items()}

    def kernels(self) -> list[str]:
        """The nodes of the optimized graph: a kernel of onnxruntime's computes each of them. What
        is no op of ONNX, because it is several or has another layout, has its domain before it."""
        import onnx

        nodes = onnx.load_from_string(self.optimized).graph.node
        return [f"{node.domain}::{node.op_type}".removeprefix("::") for node in nodes]


def prepare(model: Model, threads: int, level: str = "all") -> Onnxruntime:
    """A session of the model's file on the processor."""
    return Onnxruntime(model, threads, level)


def onnxruntime_session(
    model: str | Path | bytes, threads: int | None = None, plain: bool = False
) -> Runner:
    """onnxruntime on the CPU with all of its optimizations, or `plain`, with none. `threads` None:
    as many as it likes."""
    need("onnxruntime")
    from onnxruntime import GraphOptimizationLevel

    options: dict[str, Any] = {} if threads is None else {"intra_op_num_threads": threads}
    if plain:
        options["graph_optimization_level"] = GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        made = session(model, **options)
    except Exception as error:  # its own exceptions have no base class but this
        raise ValueError(f"onnxruntime cannot run this model: {error}") from error
    names = [value.name for value in made.get_inputs()]
    return lambda arrays: made.run(None, dict(zip(names, arrays, strict=True)))


def session(model: str | Path | bytes, without: Sequence[str] = (), **options: Any) -> Any:
    """onnxruntime's session of a file on the CPU, which prints nothing: what goes wrong it raises.

    without  names of its optimizers that shall not run
    options  attributes of its `SessionOptions`
    """
    import onnxruntime

    asked = onnxruntime.SessionOptions()
    for name, value in {"log_severity_level": 4, **options}.items():
        setattr(asked, name, value)
    source = model if isinstance(model, bytes) else str(model)
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(
        source, asked, providers=providers, disabled_optimizers=list(without)
    )


def as_text(data: bytes) -> str:
    """An ONNX file in ONNX's own notation, without its weights."""
    import onnx

    model = onnx.load_from_string(data)
    del model.graph.initializer[:]
    return onnx.printer.to_text(model)
