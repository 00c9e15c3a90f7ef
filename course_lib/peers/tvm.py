"""TVM: its ONNX importer, the passes of Relax, schedules from a log, and its LLVM.

    peer("tvm").prepare("mlp").kernels()      ->   ["fused_matmul_add_relu", ...]
    peer("tvm+tuned")                         the same kernels, scheduled as the log says

The importer is what TVM's users call; it reads whatever file there is, while `plugins/tvm/write.py`
says in Relax what our chips and their boundaries are about. Its passes are those of TVM's own
pipeline for a model with fixed sizes, and then `tvm.compile` for this processor, which writes the
program of a virtual machine that calls one kernel after the other.

Untuned, a kernel has the schedule that it was written with: plain loops on one thread, and LLVM
does what it can. Tuned, a kernel of which `tvm_log.txt` has a record has the schedule of that
record; a kernel without one keeps its plain loops, and `kernels()` says so.
Next room: `tvm_log.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.ir.instrument import pass_instrument

from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared
from course_lib.peers.tvm_log import database
from course_lib.plugins.tvm.models import from_onnx

# The passes after which the model is shown, as TVM calls them. Those that shape kernels come first;
# the others are `tvm.compile`'s, and make a program with memory of its own out of it.
KERNELS = ("DecomposeOps", "CanonicalizeBindings", "LegalizeOps", "AnnotateTIROpPattern",
           "FoldConstant", "FuseOps", "FuseTIR")  # fmt: skip
PROGRAM = (
    "RewriteDataflowReshape", "ToNonDataflow", "CallTIRRewrite", "StaticPlanBlockMemory",
    "LowerAllocTensor", "KillAfterLastUse", "LowerRuntimeBuiltin", "VMShapeLower",
)  # fmt: skip
SCHEDULED = "MetaScheduleApplyDatabase"
LOWERED = "tirx.ConvertSSA"  # the last one before a kernel checks its arguments


class Tvm(Prepared):
    """The model as a program of TVM's virtual machine."""

    def __init__(self, model: Model, threads: int, tuned: bool) -> None:
        _set_threads(threads)
        self.target, self.log = here(), database() if tuned else None
        self.imported = from_onnx(model.onnx)
        self.kernels_of, self.program = self._built()
        self.function = relax.VirtualMachine(self.program, tvm.cpu())["main"]
        self.inputs = [tvm.runtime.tensor(np.array(x)) for x in model.inputs]

    def call(self) -> list[np.ndarray]:
        results = self.function(*self.inputs)
        listed = [results] if isinstance(results, tvm.runtime.Tensor) else results
        return [result.numpy() for result in listed]

    def stages(self) -> dict[str, str]:
        """Of the model, of every kernel, and of the code of all of them. It is built again, and
        every pass is listened to."""
        modules: dict[str, Any] = {}

        @pass_instrument
        class Listener:
            def run_after_pass(self, module: Any, info: Any) -> None:
                modules.setdefault(info.name, module)  # some run again later, and find nothing

        _, program = self._built(Listener())
        (code,) = program.mod.imports
        return {
            "Relax, imported": _relax(self.imported),
            **{name: _relax(modules[name]) for name in (*KERNELS, *PROGRAM) if name in modules},
            **self._of_kernels(modules),
            "virtual machine": program.as_text(),
            "LLVM IR": code.inspect_source("ll"),
            "assembly": code.inspect_source("asm"),
        }

    def _of_kernels(self, modules: dict[str, Any]) -> dict[str, str]:
        states = {"TIR": "FuseTIR", "scheduled": SCHEDULED, "lowered": LOWERED}
        names = dict.fromkeys(_called(self.kernels_of))
        return {
            f"{name}: {state}": modules[after][name].script()
            for name in names
            for state, after in states.items()
            if after in modules and name in _names(modules[after])
        }

    def kernels(self) -> list[str]:
        """The kernels that the program calls; with a log, also which it has no record of."""
        return [
            name if self.log is None or self._scheduled(name) else f"{name} (default schedule)"
            for name in _called(self.kernels_of)
        ]

    def _scheduled(self, name: str) -> bool:
        attrs = self.kernels_of[name].attrs if name in _names(self.kernels_of) else None
        return bool(attrs and attrs.get("tirx.is_scheduled", False))

    def _built(self, *instruments: Any) -> tuple[Any, Any]:
        """The model in kernels, scheduled or not, and the program."""
        with tvm.transform.PassContext(opt_level=3, instruments=instruments):
            module = in_kernels(self.imported, self.target, self.log)
            return module, tvm.compile(module, self.target)


def prepare(model: Model, threads: int, tuned: bool = False) -> Tvm:
    """The model, compiled for this processor; `tuned`: with the schedules of the log.

    ValueError for a model that TVM cannot import, compile or run.
    """
    try:
        return Tvm(model, threads, tuned)
    except Exception as error:  # TVM's errors have no one base
        raise ValueError(f"TVM cannot run this model: {error}") from error


def in_kernels(module: Any, target: Any, log: Any = None) -> Any:
    """An imported model as calls of kernels, which are scheduled where the log has them."""
    passes = [relax.transform.DecomposeOpsForInference(), relax.transform.CanonicalizeBindings(),
              relax.get_pipeline("zero")]  # fmt: skip
    with target:
        module = tvm.transform.Sequential(passes)(module)
        if log is not None:
            with log:
                module = relax.transform.MetaScheduleApplyDatabase()(module)
    return module


def here() -> Any:
    """This processor as TVM's target. `num-cores` says how many jobs a search makes of a loop."""
    found = tvm.target.Target.from_device("cpu").attrs
    about = {"kind": "llvm", "mtriple": found["mtriple"], "mcpu": found["mcpu"], "num-cores": 2}
    return tvm.target.Target(about)


def _set_threads(threads: int) -> None:
    """How many run a parallel loop, on whichever of the process's processors is free. TVM reads
    this when it first needs them."""
    os.environ.update(TVM_NUM_THREADS=str(threads), TVM_BIND_THREADS="0")


def _called(module: Any) -> Iterator[str]:
    """What `main` calls, in order: kernels, and functions of TVM's libraries."""
    for block in module["main"].body.blocks:
        for binding in block.bindings:
            op = getattr(getattr(binding.value, "op", None), "name", "")
            if op in ("relax.call_tir", "relax.call_tir_inplace"):
                yield binding.value.args[0].name_hint
            elif op in ("relax.call_dps_packed", "relax.call_pure_packed"):
                yield binding.value.args[0].global_symbol


def _names(module: Any) -> set[str]:
    return {variable.name_hint for variable in module.functions}


def _relax(module: Any) -> str:
    """The functions in Relax. Between FuseOps and FuseTIR, each kernel is one of them."""
    functions = {v: f for v, f in module.functions.items() if isinstance(f, relax.Function)}
    return tvm.IRModule(functions).script()
