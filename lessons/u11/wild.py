"""Production systems that let tiles take turns in slots: unit 11.

    multibuffer()      MLIR's `memref.multibuffer`, run here or recorded
    triton_table()     Triton's shared memory by `num_stages`, recorded

Next room: tables.py.
"""

from __future__ import annotations

import re
from typing import Any

from course_lib.draw.plots.table import table
from course_lib.maker import maker
from course_lib.mlir.upstream.passes import passed
from course_lib.mlir.upstream.pipelines import Pipeline
from course_lib.recorded import recorded

_ARRAY, _TILE = "memref<64xi8>", "memref<16xi8, 1>"
_PIECE = "memref<16xi8, strided<[1], offset: ?>>"
_IN = f"""\
      %from = memref.subview %x[%i] [16] [1] : {_ARRAY} to {_PIECE}
      memref.copy %from, %buffer : {_PIECE} to {_TILE}
"""
_OUT = f"""\
      %to = memref.subview %y[%i] [16] [1] : {_ARRAY} to {_PIECE}
      memref.copy %buffer, %to : {_TILE} to {_PIECE}
"""


def _loop(body: str) -> str:
    return f"""\
module {{
  func.func @f(%x: {_ARRAY}, %y: {_ARRAY}) {{
    %buffer = memref.alloc() : {_TILE}
    affine.for %i = 0 to 64 step 16 {{
{body}    }}
    return
  }}
}}
"""


LOOP, OTHER_ORDER = _loop(_IN + _OUT), _loop(_OUT + _IN)
SCHEDULE = """\
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %buffer = transform.structured.match ops{["memref.alloc"]} in %module
        : (!transform.any_op) -> !transform.op<"memref.alloc">
    %more = transform.memref.multibuffer %buffer {factor = 2 : i64}
        : (!transform.op<"memref.alloc">) -> !transform.any_op
    transform.yield
  }
"""
MULTIBUFFER = Pipeline("multibuffer", (("transform-interpreter", "two slots"),), SCHEDULE)
BY_MLIR, BY_TRITON = (recorded(__file__, f"{tool}.txt") for tool in ("torch_mlir", "triton"))
RECORDED, REFUSED = (BY_MLIR[which].rstrip("\n") for which in ("loop", "other order"))
# By number of stages: `local_alloc` of x in the TTGIR, and the bytes of shared memory.
TRITON = {stages: (type, size) for stages, type, size in BY_TRITON.data("buffers")}


def multibuffer() -> str:
    """The lines that MLIR changed or added, what it says to the other order, and which tool ran."""
    try:
        done, other = (passed(text, MULTIBUFFER) for text in (LOOP, OTHER_ORDER))
    except ValueError:
        tool, lines, refusal = BY_MLIR.words, RECORDED, REFUSED
    else:
        tool, lines = f"made by {done.tool}:", changed(done.states[-1].text)
        refusal = REFUSED if REFUSED in other.trouble else other.trouble or "it is accepted, too"
    return f"{tool}\n{lines}\n\nwith the two copies in the other order: {refusal}"


@maker("torch-mlir", "torch_mlir")
def slots_by_mlir() -> dict[str, str]:
    """The lines of LOOP, and what is said of OTHER_ORDER."""
    done, other = (passed(text, MULTIBUFFER, "torch-mlir") for text in (LOOP, OTHER_ORDER))
    said = re.findall(r"op failed to multibuffer", other.trouble)
    return {"loop": changed(done.states[-1].text), "other order": said[0] if said else "accepted"}


def changed(text: str) -> str:
    """The lines about the buffer and its slot, with maps where they are used."""
    for name, map in re.findall(r"^(#map\w*) = (.*)$", text, re.MULTILINE):
        text = text.replace(f"{name}(", f"{map}(")
    wanted = r"(%alloc.*|%\w+ = affine\.apply.*|%subview\w* = memref\.subview %al.*)"
    return "\n".join(re.findall(rf"^\s*{wanted}$", text, re.MULTILINE))


def triton_table() -> Any:
    """What Triton allocates for the tiles of x, by the number of stages."""
    rows = [[stages, type, size] for stages, (type, size) in TRITON.items()]
    heads = ["stages", "the buffer for x", "bytes of shared memory"]
    return table(rows, heads, BY_TRITON.words, exact=[heads[0], heads[2]])
