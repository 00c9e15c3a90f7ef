"""Arrays in MLIR's text: few numbers as `dense<[1.0, 2.0]>`, many as a resource behind the module.

    arith.constant dense_resource<w> : tensor<512x784xf32>
    {-# dialect_resources: { builtin: { w: "0x40000000..." } } #-}

The bytes of a resource are little-endian, behind four that say how they must be aligned (here at 64
bytes). Next room: `to_mlir.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from course_lib.ir.types import DType
from course_lib.mlir.out.writer import number

ALIGNMENT = 64


def dense(array: np.ndarray) -> str:
    """An array as `dense<...>`, written out."""
    if array.size == 0:
        return "dense<>"
    return f"dense<{_nested(array.tolist(), DType.of(array.dtype))}>"


def _nested(value: Any, dtype: DType) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(v, dtype) for v in value)}]"
    return number(value, dtype)


def resources(arrays: Mapping[str, np.ndarray]) -> str:
    """The section with the bytes of all resources; nothing if there are none."""
    if not arrays:
        return ""
    rows = [f'      {name}: "0x{blob(array).hex()}"' for name, array in arrays.items()]
    return ("{-#\n  dialect_resources: {\n    builtin: {\n" + ",\n".join(rows)
            + "\n    }\n  }\n#-}\n")  # fmt: skip


def blob(array: np.ndarray) -> bytes:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return ALIGNMENT.to_bytes(4, "little") + np.ascontiguousarray(little).tobytes()
