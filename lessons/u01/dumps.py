"""What other compilers wrote for unit 1: StableHLO by torch-mlir with torch, Relax by TVM, and the
forms of a product by tinygrad.

torch-mlir is 80 MB to download and 270 MB on the disk, so it is no part of the everyday set-up. Its
text stands in torch_mlir.txt, TVM's in relax.txt, tinygrad's in tinygrad.txt; where they are
installed, tests/units/test_u01.py shows that they still say it. Next room:
lessons/u01/__init__.py.
"""

from __future__ import annotations

from course_lib.recorded import recorded

BY_MLIR, BY_TVM, BY_TINYGRAD = (
    recorded(__file__, f"{tool}.txt") for tool in ("torch_mlir", "relax", "tinygrad")
)
TORCH_MLIR = BY_MLIR.version
GATE = BY_MLIR["Gate"]  # the model Gate of the notebook, on f32[2,8]
RELAX = BY_TVM["Gate"]  # the same model
# The model Head of the notebook, on f32[8,8], after two numbers in it were changed.
CHANGED_HEAD = BY_MLIR["Head, changed"]
TINYGRAD = BY_TINYGRAD.texts
