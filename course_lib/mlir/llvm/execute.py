"""A module of func, cf, arith, math and memref to functions that Python can call.

    loaded = load(module)
    loaded["scale"](x, 2.0)          # a numpy array for a memref, a number for a scalar

The machine code gets the address of an array's first element and believes the rest, so shape and
element type are compared with those of the parameter before. Next room: `printer.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from xdsl.dialects import builtin, func
from xdsl.ir import Attribute

from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine
from course_lib.mlir.llvm.to_llvm import to_llvm

NUMBERS = {"i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
           "i64": ctypes.c_int64, "float": ctypes.c_float, "double": ctypes.c_double,
           "ptr": ctypes.c_void_p, "void": None}  # fmt: skip
# Which of numpy's types may stand for one of MLIR's; numpy counts bytes.
DTYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "index": "i8", "i1": "b1",
          "i8": "i1 u1", "i16": "i2 u2", "i32": "i4 u4", "i64": "i8 u8"}  # fmt: skip


class Loaded:
    """Machine code in memory; it lives as long as this object.

    functions  what is defined in the module, by name: the compiled function, its type in MLIR
    optimized  LLVM's text of the module after its optimizer
    """

    def __init__(
        self, module: builtin.ModuleOp, runtime: Mapping[str, Callable[..., Any]], name: str
    ) -> None:
        lowered = to_llvm(module, name)
        lowered.triple = llvm.get_process_triple()
        parsed = optimize(str(lowered), target_machine())
        self.optimized = str(parsed)
        self._engine = llvm.create_mcjit_compiler(parsed, target_machine())
        self._callbacks = {}
        for declared in [f for f in parsed.functions if f.is_declaration]:
            self._connect(declared, lowered, runtime)
        self._engine.finalize_object()
        self.functions: dict[str, tuple[Callable[..., Any], builtin.FunctionType]] = {}
        for op in module.ops:
            if isinstance(op, func.FuncOp) and op.body.blocks:
                name = op.sym_name.data
                address = self._engine.get_function_address(name)
                self.functions[name] = _signature(lowered, name)(address), op.function_type

    def _connect(self, declared: llvm.ValueRef, lowered: ir.Module, runtime: Mapping) -> None:
        name = declared.name
        if name in runtime:
            kept = self._callbacks[name] = _signature(lowered, name)(runtime[name])
            address = ctypes.cast(kept, ctypes.c_void_p).value
            self._engine.add_global_mapping(declared, address)
        elif not name.startswith("llvm.") and llvm.address_of_symbol(name) is None:
            raise ValueError(f"nobody defines the function {name!r} that this module declares")

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The function of this name; arrays stand for memrefs. ValueError if there is none, and
        when it is called, for arguments that do not fit its parameters."""
        if name not in self.functions:
            known = ", ".join(self.functions) or "none"
            raise ValueError(f"there is no function {name!r} here; there are: {known}")
        _, type = self.functions[name]

        def call(*arguments: Any) -> Any:  # keeps the machine code alive: it knows `self`
            if len(arguments) != len(type.inputs):
                message = f"{name} takes {len(type.inputs)} arguments, got {len(arguments)}"
                raise ValueError(message)
            pairs = zip(arguments, type.inputs, strict=True)
            return self.functions[name][0](*[_argument(given, wanted) for given, wanted in pairs])

        return call


def load(
    module: builtin.ModuleOp,
    runtime: Mapping[str, Callable[..., Any]] | None = None,
    name: str = "mlir",
) -> Loaded:
    """Lower, optimize, compile and load a module. `runtime`: Python functions for what it only
    declares; the rest comes from the process (malloc, free, C's mathematics)."""
    return Loaded(module, runtime or {}, name)


def _signature(module: ir.Module, name: str) -> Any:
    function = module.globals[name]
    types = [str(type) for type in (function.ftype.return_type, *function.ftype.args)]
    strange = [type for type in types if type not in NUMBERS]
    if strange:
        raise ValueError(f"{name}: a value of type {strange[0]} cannot pass from or to Python")
    return ctypes.CFUNCTYPE(*[NUMBERS[type] for type in types])


def _argument(given: Any, wanted: Attribute) -> Any:
    if isinstance(given, np.ndarray) != isinstance(wanted, builtin.MemRefType):
        kind = "an array" if isinstance(wanted, builtin.MemRefType) else "a number"
        raise ValueError(f"expected {kind} for a {wanted}, got {given!r}")
    if not isinstance(wanted, builtin.MemRefType):
        return given
    pairs = list(zip(wanted.get_shape(), given.shape, strict=False))
    fits = len(wanted.get_shape()) == given.ndim and all(
        n in (m, builtin.DYNAMIC_INDEX) for n, m in pairs
    )
    numbers = given.dtype.str[1:] in DTYPES.get(str(wanted.element_type), "")
    if not fits or not numbers or not given.dtype.isnative:
        came = f"an array of {given.dtype} with shape {given.shape}"
        raise ValueError(f"expected an array for a {wanted}, got {came}")
    if not given.flags.c_contiguous or not isinstance(wanted.layout, builtin.NoneAttr):
        raise ValueError("an array that stands for a memref is contiguous: np.ascontiguousarray")
    return given.ctypes.data
