"""The three pieces together: the model of the lab in TVM, with the chip's simulator as its chip.

    report = plugged(divided, generate, run)
    report.table()           equal to TVM's CPU or not; layer by layer: start, clocks, waits, port

Where TVM is not installed, the stand-in runs them, and the report says so. Next room:
autograder/units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from course_lib.accelerator.core.simulate import Run
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.plugins.byoc import machine
from course_lib.plugins.byoc.memory import TEACHING, on_chip
from course_lib.plugins.byoc.real import real
from course_lib.plugins.byoc.told import told
from course_lib.plugins.byoc.tree import IRModule
from course_lib.plugins.byoc.tvm import Tvm
from course_lib.plugins.ours import port_bytes
from course_lib.plugins.tvm.package import installed, package
from course_lib.recorded import recorded
from lessons.u14_lab_byoc.programs import inputs, model

BY_TVM = recorded(__file__, "tvm.txt")


class Ran(NamedTuple):
    """A layer that ran on the chip, in the start of that number."""

    start: int
    m: int
    k: int
    n: int
    run: Run

    @property
    def bound(self) -> int:
        """The clocks in which the array could multiply everything."""
        return -(-self.m * self.k * self.n // TEACHING.macs)

    @property
    def port(self) -> float:
        """The clocks in which the port moves bytes."""
        return port_bytes(self.run.program, TEACHING) / TEACHING.dma_bytes

    def row(self) -> list[Any]:
        """Its line of the table."""
        array, loads, total = self.run.stalls("execute"), self.run.stalls("load"), self.run.total
        parts = array["busy"], array.get("wait=load", 0), loads.get("wait=execute", 0), self.port
        shape = f"[{self.m}, {self.k}] · [{self.k}, {self.n}]"
        shares = [round(100 * part / total) for part in parts]
        return [self.start, shape, total, self.bound, total / self.bound, *shares]


@dataclass(eq=False)
class Report:
    """What ran where. `equal`: are all numbers those of the CPU alone?"""

    by: str
    starts: int = 0
    layers: list[Ran] = field(default_factory=list)
    equal: bool = False

    @property
    def clocks(self) -> int:
        return sum(ran.run.total for ran in self.layers)

    @property
    def bound(self) -> int:
        return sum(ran.bound for ran in self.layers)

    @property
    def port(self) -> float:
        """The share of the clocks in which the port moves bytes."""
        return sum(ran.port for ran in self.layers) / self.clocks

    def table(self) -> Picture:
        """A row for each layer; shares are of its clocks."""
        rows = [ran.row() for ran in self.layers]
        rows.append([None, f"{self.starts} starts together", self.clocks, self.bound,
                     self.clocks / self.bound, *[None] * 3, round(100 * self.port)])  # fmt: skip
        heads = ["start", "[m, k] · [k, n]", "clocks", "bound", "times", "array busy (%)",
                 "array waits for loads (%)", "load waits for array (%)",
                 "port busy (%)"]  # fmt: skip
        same = "the same numbers as" if self.equal else "OTHER numbers than"
        return table(rows, heads, f"{self.by}: {same} its CPU alone", exact=("clocks", "bound"))


def plugged(divided: Callable, generate: Callable, run: Callable, stand_in: bool = False) -> Report:
    """The model with these three pieces, in TVM if it is installed (and not `stand_in`)."""
    tvm = Tvm() if stand_in or not installed() else package()
    module, (x,) = (model() if isinstance(tvm, Tvm) else real(tvm, model())), inputs()
    report = Report("the stand-in for TVM" if isinstance(tvm, Tvm) else f"TVM {tvm.__version__}")

    def start(region: Any, operands: list[np.ndarray]) -> list[np.ndarray]:
        values: dict[Any, Any] = dict(zip(region.params, operands, strict=True))
        for binding in region.body.blocks[0].bindings:
            call = binding.value
            if isinstance(call, tvm.relax.Function):  # a layer; the next binding calls it
                values[binding.var] = generate(tvm, call, TEACHING)
                continue
            found, x = values[call.op], values[call.args[0]]
            k, n = np.shape(found["weights"])
            values[binding.var], ran = on_chip(found["program"], found, x)
            report.layers.append(Ran(report.starts, len(x), k, n, ran))
        report.starts += 1
        body = region.body.body
        results = body.fields if isinstance(body, tvm.relax.Tuple) else [body]
        return [values[result] for result in results]

    result = run(tvm, divided(tvm, module), x, start)
    report.equal = np.array_equal(result, alone(tvm, module, x))
    return report


def alone(tvm: Any, module: Any, x: np.ndarray) -> np.ndarray:
    """What the model computes for x without a chip."""
    if isinstance(tvm, Tvm):
        return machine.run(module["main"], [x], module)[0]
    built = tvm.compile(module, target=tvm.target.Target({"kind": "llvm"}))
    return tvm.relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()


def by_tvm(divided: Callable, module: IRModule) -> str:
    """How TVM divides a program with an answer; where it is not installed, as it did with ours."""
    if not installed():
        return f"{BY_TVM['model']}({BY_TVM.words}, with our answer; TVM is not installed here)"
    return told(divided(package(), real(package(), module)))
