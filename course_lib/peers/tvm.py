"""TVM: Relax from its ONNX importer, its passes, its schedules, and its LLVM.

next
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from course_lib.plugins.tvm.models import from_onnx


def fused(file: bytes, target: Any) -> Any:
    """The model in Relax, in kernels that are not scheduled yet."""
    module = from_onnx(file)
    transform = relax.transform
    passes = [transform.DecomposeOpsForInference(), transform.CanonicalizeBindings(),
              relax.get_pipeline("zero")]  # fmt: skip
    with target, tvm.transform.PassContext(opt_level=3):
        return tvm.transform.Sequential(passes)(module)


def here() -> Any:
    """This processor as a target."""
    found = tvm.target.Target.from_device("cpu").attrs
    return tvm.target.Target({"kind": "llvm", "mtriple": found["mtriple"], "mcpu": found["mcpu"], "num-cores": 1})
