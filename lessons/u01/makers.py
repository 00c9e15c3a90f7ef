"""What makes the recorded text of TVM's Relax of unit 1 again. Next room: captures.py."""

from __future__ import annotations

import torch

from course_lib.maker import maker
from lessons.u01.captures import Gate


@maker("TVM", "tvm", "torch", seconds=3)
def relax_of_gate() -> dict[str, str]:
    """Gate by TVM's importer, without comments and the list of the weights."""
    from tvm.relax.frontend.torch import from_exported_program

    program = torch.export.export(Gate().eval(), (torch.randn(2, 8),))
    module = from_exported_program(program, keep_params_as_input=True)
    lines = module.script(show_meta=False).splitlines()
    kept = [line for line in lines if not line.startswith("#") and "R.func_attr" not in line]
    return {"Gate": "\n".join(kept).strip()}
