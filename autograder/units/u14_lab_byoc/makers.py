"""What makes the recording of the lab beside unit 14: our answers in TVM."""

from __future__ import annotations

from autograder.units.u14_lab_byoc.checks import division
from course_lib.exercises import slot
from course_lib.maker import maker
from course_lib.plugins.byoc.real import real
from course_lib.plugins.tvm.package import package
from lessons.u14_lab_byoc.plugged import by_tvm
from lessons.u14_lab_byoc.programs import model


@maker("apache-tvm", "tvm", seconds=3)
def divided_by_us() -> dict[str, str]:
    """How the model is divided, and a region as TVM prints it."""
    divided = slot("u14_lab_byoc.divided").reference
    module = divided(package(), real(package(), division.TAKEN[1][0]))
    (region,) = (f.script() for var, f in module.functions.items() if var.name_hint != "main")
    lines = [line for line in region.strip().splitlines() if not line.strip().startswith("#")]
    return {"model": by_tvm(divided, model()), "region": "\n".join(lines).strip()}
