"""Models in, graphs out: the only room that sees torch and onnx.

    load(model, [x])          a torch.nn.Module        -> Graph      frontend/torch/export.py
    load("model.onnx")        an ONNX file             -> Graph      frontend/onnx/read.py
    to_onnx(graph)            a Graph                  -> ModelProto frontend/onnx/write.py

Both importers are tables: one small function for each op of the other side, written with the
functions of `ir/graph/build.py`. What a model needs and no table has is reported all at once
(`UnsupportedOps`). torch and onnx are imported when one of their models arrives. Next room:
`provenance.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.arguments import takes
from course_lib.frontend.provenance import UnsupportedOps
from course_lib.ir.graph.graph import Graph
from course_lib.ir.types import TensorType

__all__ = ["UnsupportedOps", "coverage", "load", "signature"]


@takes
def load(model: Any, example_inputs: Sequence[Any] | None = None) -> Graph:
    """The graph of a torch module, an ONNX file (path, bytes or ModelProto) or a graph itself.

    A torch module is traced, so it needs example inputs (arrays or tensors); they also fix the
    sizes. torch and onnx are imported only when one of their models arrives.
    """
    if isinstance(model, Graph):
        return model
    if _is_onnx(model):
        from course_lib.frontend.onnx.read import from_onnx

        return from_onnx(model, example_inputs)
    known = hasattr(model, "state_dict") or hasattr(model, "graph_module")
    if known and not isinstance(model, type):
        from course_lib.frontend.torch.export import from_torch

        return from_torch(model, example_inputs)
    raise no_model(model)


def no_model(model: Any) -> ValueError:
    """What to say about something else."""
    is_class = isinstance(model, type)
    came = f"the class {model.__name__} itself" if is_class else type(model).__name__
    return ValueError(
        "a model is a torch.nn.Module, an ONNX file (its path, its bytes or a ModelProto) or a "
        f"course_lib Graph; got {came}"
    )


def signature(model: str | Graph) -> dict[str, TensorType | None]:
    """What an ONNX file or a graph takes, before it is translated: a type for each name.

    Sizes may be symbols. None: the file does not even say how many axes the input has.
    """
    if isinstance(model, Graph):
        return {node.name: node.type for node in model.inputs}
    if not _is_onnx(model):
        raise no_model(model)
    from course_lib.frontend.onnx import file as onnx_file

    return onnx_file.signature(model)


def _is_onnx(model: Any) -> bool:
    return isinstance(model, (str, Path, bytes)) or hasattr(model, "opset_import")


def coverage() -> dict[str, list[str]]:
    """What the importers have rules for: names of ATen ops and of ONNX op types; those of
    onnxruntime stand apart.

    Ops without a rule may still import: PyTorch and ONNX define many ops by simpler ones.
    """
    from course_lib.frontend.onnx import rules as onnx_rules
    from course_lib.frontend.onnx.opset import CONTROL
    from course_lib.frontend.torch import rules as torch_rules

    named = sorted([*onnx_rules.RULES, *CONTROL])
    return {
        "aten": sorted(torch_rules.RULES),
        "onnx": [name for name in named if "::" not in name],
        "onnxruntime": [name for name in named if "::" in name],
    }
