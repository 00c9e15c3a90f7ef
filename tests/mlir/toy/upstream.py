"""Run by test_upstream.py in a process of its own: torch-mlir has another LLVM than llvmlite.

    {"jit.toy cf": "builtin.module {...}"} as JSON   ->   {"jit.toy cf": [1.0, 16.0, ...]}

Each module goes through upstream's own lowering and its engine; the numbers are what it prints.
"""

import ctypes
import json
import sys

from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.ir import Context, Module, UnitAttr
from torch_mlir.passmanager import PassManager

PASSES = ["convert-scf-to-cf", "convert-arith-to-llvm", "finalize-memref-to-llvm",
          "convert-func-to-llvm", "convert-cf-to-llvm", "reconcile-unrealized-casts"]  # fmt: skip


def printed(text: str) -> list[float]:
    with Context():
        module = Module.parse(text)
        for operation in module.body.operations:
            if operation.operation.name == "func.func":
                operation.operation.attributes["llvm.emit_c_interface"] = UnitAttr.get()
        PassManager.parse(f"builtin.module({','.join(PASSES)})").run(module.operation)
        engine = ExecutionEngine(module)
    numbers: list[float] = []
    value = ctypes.CFUNCTYPE(None, ctypes.c_double)(numbers.append)
    newline = ctypes.CFUNCTYPE(None)(lambda: None)
    engine.register_runtime("print_f64", value)
    engine.register_runtime("print_newline", newline)
    engine.invoke("main")
    return numbers


json.dump({name: printed(text) for name, text in json.load(sys.stdin).items()}, sys.stdout)
