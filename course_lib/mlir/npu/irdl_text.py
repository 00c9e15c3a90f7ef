"""The same dialect for MLIR's own tools: its definition as data, and programs in the generic form.

    "npu.clear"(%0) : (memref<64x32xi32, #npu.space<"accs">>) -> ()
    mlir-opt-22 --irdl-file=npu.irdl.mlir program.mlir

`npu.irdl.mlir` defines the dialect in IRDL, so that `mlir-opt` verifies what IRDL can say. Weights
lie row by row in such a text, because IRDL defines no layouts. Next room: `ods/chips.py`.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

DEFINITION = Path(__file__).with_name("npu.irdl.mlir")


def generic(module: ModuleOp) -> str:
    """A module as `mlir-opt --irdl-file` reads it: all operations in the generic form; those of
    this dialect with attributes in place of properties, which IRDL does not have."""
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(module)
    lines = [_plain(line) if '"npu.' in line else line for line in out.getvalue().split("\n")]
    text = re.sub(r"#npu\.space<(\w+)>", r'#npu.space<"\1">', "\n".join(lines))
    return re.sub(r"#npu\.panels<\d+>, ", "", text)


def _plain(line: str) -> str:
    return re.sub(r"<\{(.*?)\}>", r"{\1}", line)
