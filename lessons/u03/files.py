"""ONNX files of the course's models, and what onnxruntime makes of them (unit 3).

Next room: autograder/units/u03/checks.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.models import MODELS, example_inputs
from course_lib.peers import onnxruntime as peers
from lessons.u03.measuring import fastest

# A level of onnxruntime's optimizer, and which of its optimizers stay off all the same. The
# NchwcTransformer keeps images in blocks of channels.
LEVELS: dict[str, tuple[str, list[str]]] = {
    "off": ("ORT_DISABLE_ALL", []),
    "extended": ("ORT_ENABLE_EXTENDED", []),
    "all but layout": ("ORT_ENABLE_ALL", ["NchwcTransformer"]),
    "all": ("ORT_ENABLE_ALL", []),
}


Place = tuple[str, str]  # a file, and a level


def exported(name: str, batch_norms: bool) -> Any:
    """A model as an ONNX file. Unless told to keep them, the exporter folds batch norms itself.

    `dynamo=False` asks for PyTorch's older exporter, which announces that it will go. Only it
    leaves a file of 69 plain operators with the batch norms in it: the newer one, asked not to
    optimize, keeps its chains of shape computations as well (unit 2).
    """
    import onnx
    import torch

    keep = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
    inputs = tuple(map(torch.from_numpy, example_inputs(name)))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        for announced in (".*TorchScript-based", "The feature will be removed"):
            warnings.filterwarnings("ignore", announced, DeprecationWarning)
        file, more = Path(folder) / "model.onnx", keep if batch_norms else {}
        torch.onnx.export(MODELS[name].build(), inputs, file, dynamo=False, **more)
        return onnx.load(file)


def operators(model: Any) -> Counter[str]:
    """How many nodes there are of each operator."""
    return Counter(node.op_type for node in model.graph.node)


def written(model: Any, first: int | None = None) -> str:
    """The first nodes of a file, or all, one for each line."""
    nodes = model.graph.node[:first]
    rows = (f"{', '.join(n.output)} = {n.op_type}({', '.join(n.input)})" for n in nodes)
    return "\n".join(rows)


def session(model: Any, level: str) -> tuple[Any, list[str]]:
    """A session of onnxruntime on one thread, and the kernels that it runs: it writes down the
    graph that is left after its own optimizer."""
    import onnx
    import onnxruntime as ort

    wanted, off = LEVELS[level]
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "optimized.onnx"
        level_of = getattr(ort.GraphOptimizationLevel, wanted)
        started = peers.session(model.SerializeToString(), off, intra_op_num_threads=1,
                                graph_optimization_level=level_of,
                                optimized_model_filepath=str(saved))  # fmt: skip
        nodes = [node for node in onnx.load(saved).graph.node if node.op_type != "Constant"]
        return started, [_kernel(node) for node in nodes]


def _kernel(node: Any) -> str:
    """What a kernel of onnxruntime does: Conv + Add + Relu."""
    does = [a.s.decode() for a in node.attribute if a.name == "activation"]
    return " + ".join([node.op_type, *(["Add"] if len(node.input) == 4 else []), *does])


def share(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """The least and the most percent that one time can be of another; each was measured twice."""
    return 100 * min(one) / max(other), 100 * max(one) / min(other)


def compared(name: str, files: Mapping[str, Any], at: Iterable[Place]) -> dict[Place, list[float]]:
    """Kernels, ms on one thread, the same measured once more, and the largest relative difference
    from the first one, of files at levels of onnxruntime's optimizer."""
    sessions = {(file, level): session(files[file], level) for file, level in at}
    first = next(iter(sessions))
    feed = {sessions[first][0].get_inputs()[0].name: example_inputs(name)[0]}
    results = {key: opened.run(None, feed)[0] for key, (opened, _) in sessions.items()}
    calls = {key: lambda s=opened: s.run(None, feed) for key, (opened, _) in sessions.items()}
    ms, again = (fastest(calls, rounds=3) for _ in range(2))
    right = results[first]
    error = {key: float(abs(y - right).max() / abs(right).max()) for key, y in results.items()}
    counts = {key: len(kernels) for key, (_, kernels) in sessions.items()}
    return {key: [counts[key], ms[key], again[key], error[key]] for key in sessions}
