"""The other engine: MLIR's programs `mlir-opt` and `mlir-translate`, and llvmlite for machine code.

    run_with_programs(text, passes, "main", pointers)       fills the arrays of the results

They are of version 22, as the LLVM inside llvmlite is, so what one prints the other reads; the
wheel of torch-mlir is newer, and brings an engine of its own (`child.py`). Next room: `child.py`.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

VERSION = "22"


def program(name: str) -> str | None:
    """Where a program of MLIR's is, if it is of version 22."""
    path = shutil.which(f"{name}-{VERSION}")
    if path is None and (path := shutil.which(name)) and version(path).split(".")[0] != VERSION:
        return None
    return path


def version(path: str) -> str:
    """What a program says of itself: 22.1.8."""
    output = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    match = re.search(r"version (\d[\w.]*)", output)
    return match[1] if match else "unknown"


def installed() -> bool:
    """Are both programs there?"""
    return all(program(name) for name in ("mlir-opt", "mlir-translate"))


def run_with_programs(
    text: str, passes: Sequence[str], function: str, pointers: Sequence[Any]
) -> None:
    """Lower the module, and call its function with these pointers to memrefs. No passes: it is in
    LLVM's dialect already.

    ValueError with the words of the program that refuses.
    """
    if passes:
        k = [name.partition("{")[0] for name in passes].index("buffer-results-to-out-params") + 1
        text = _opt(with_structured_copies(_opt(text, passes[:k])), passes[k:])
    llvm_ir = _output([program("mlir-translate"), "--mlir-to-llvmir"], text)
    _call(llvm_ir, f"_mlir_ciface_{function}", pointers)


def with_structured_copies(text: str) -> str:
    """`memref.copy` as `linalg.copy`, which becomes loops. Where strides differ, the former becomes
    the call of a function from MLIR's runtime library, which is not everywhere."""
    return re.sub(
        r"memref\.copy (\S+), (\S+) : (.*) to (memref<.*>)",
        r"linalg.copy ins(\1 : \3) outs(\2 : \4)",
        text,
    )


def _opt(text: str, passes: Sequence[str]) -> str:
    pipeline = f"--pass-pipeline=builtin.module({','.join(passes)})"
    return _output([program("mlir-opt"), pipeline, "--mlir-print-local-scope"], text)


def _output(command: Sequence[Any], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip() or f"status {done.returncode}")
    return done.stdout


def _call(llvm_ir: str, name: str, pointers: Sequence[Any]) -> None:
    import llvmlite.binding as llvm  # heavy

    from course_lib.llvm.codegen import target_machine  # llvmlite is heavy

    lines = llvm_ir.splitlines()  # the target is the one of this machine
    module = llvm.parse_assembly("\n".join(x for x in lines if not x.startswith("target ")))
    module.triple = llvm.get_process_triple()
    machine = target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    types = [ctypes.c_void_p] * len(pointers)
    function = ctypes.CFUNCTYPE(None, *types)(engine.get_function_address(name))
    function(*(ctypes.cast(p, ctypes.c_void_p) for p in pointers))
