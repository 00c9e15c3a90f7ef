"""All of it under TVM's names: `tvm.relax.dpl.is_op`, `tvm.relax.transform.RunCodegen`, ...

    divided(Tvm(), module)         runs what is written for `divided(tvm, module)`

Next room: `real.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_lib.plugins.byoc import dpl, machine, transform, tree


class _Names(SimpleNamespace):
    """Some names of a module of TVM. An AttributeError lists them."""

    def __init__(self, where: str, **names: Any) -> None:
        super().__init__(**names)
        self.__dict__["_where"] = where

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = ", ".join(n for n in vars(self) if not n.startswith("_"))
        raise AttributeError(f"the stand-in for TVM has no {self._where}.{name}, but {known}")


@dataclass(frozen=True)
class Tvm:
    """Stands for the module `tvm`. What is registered is known to this one alone; a run before
    may have registered functions under the names in `earlier`."""

    earlier: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        known: machine.Registered = dict.fromkeys(self.earlier, _of_an_earlier_run)
        vars(self).update(
            registered=known,
            relax=_Names(
                "tvm.relax",
                dpl=_Names("tvm.relax.dpl", wildcard=dpl.wildcard, is_const=dpl.is_const,
                           is_op=dpl.is_op),
                transform=_Names("tvm.relax.transform", **_passes(known)),
                VirtualMachine=partial(machine.VirtualMachine, known),
                Function=tree.Function, Tuple=tree.Tuple, Var=tree.Var,
            ),
            runtime=_Names("tvm.runtime", tensor=lambda values: tree.Tensor(np.array(values))),
            target=_Names("tvm.target", Target=_target),
            ir=_Names("tvm.ir", Call=tree.RelaxCall, GenericConst=tree.GenericConst, Op=tree.Op,
                      Tuple=tree.Tuple, Var=tree.Var),
        )  # fmt: skip

    def register_global_func(self, name: str, f: Any, override: bool = False) -> None:
        """ValueError if there is one of that name, unless `override`."""
        known: machine.Registered = vars(self)["registered"]
        if name in known and not override:
            raise ValueError(f"{name} is already registered; override=True replaces it")
        known[name] = f

    def compile(self, module: tree.IRModule, target: Any = None) -> machine.Executable:
        return machine.compile(module, target)

    def cpu(self) -> str:
        return "cpu"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = "relax, runtime, target, ir, register_global_func, compile, cpu"
        raise AttributeError(f"the stand-in for TVM has no tvm.{name}, but {known}")


def _of_an_earlier_run(*given: Any) -> None:
    raise RuntimeError("this function was registered by an earlier run")


def _target(what: Any) -> Any:
    """A name, or a dict with a kind."""
    if not isinstance(what, str) and "kind" not in what:
        raise ValueError(f'a target is {{"kind": "llvm"}} here, got {what!r:.60}')
    return what


def _passes(known: machine.Registered) -> dict[str, Any]:
    return {
        "FoldConstant": transform.FoldConstant,
        "FusionPattern": transform.FusionPattern,
        "FuseOpsByPattern": transform.FuseOpsByPattern,
        "MergeCompositeFunctions": transform.MergeCompositeFunctions,
        "RunCodegen": partial(transform.RunCodegen, known),
    }
