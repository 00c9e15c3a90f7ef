"""Other engines on the same model: the witnesses that we compare with.

    peer = onnxruntime_session("model.onnx", threads=1)
    peer([x])  ->  [y]

Next room: `steps.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.packages import need

Runner = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


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
