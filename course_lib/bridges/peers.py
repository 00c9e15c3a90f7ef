"""Other engines on the same model: the witnesses that we compare with.

    peer = onnxruntime_session("model.onnx", threads=1)
    peer([x])  ->  [y]

Next room: `steps.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from course_lib.packages import need

Runner = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


def onnxruntime_session(
    model: str | Path | bytes, threads: int | None = None, plain: bool = False
) -> Runner:
    """onnxruntime on the CPU with all of its optimizations, or `plain`, with none. `threads` None:
    as many as it likes."""
    need("onnxruntime")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: warnings about unused initializers help nobody
    if threads is not None:
        options.intra_op_num_threads = threads
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    source = model if isinstance(model, bytes) else str(model)
    providers = ["CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(source, options, providers=providers)
    except Exception as error:  # its own exceptions have no base class but this
        raise ValueError(f"onnxruntime cannot run this model: {error}") from error
    names = [value.name for value in session.get_inputs()]
    return lambda arrays: session.run(None, dict(zip(names, arrays, strict=True)))
