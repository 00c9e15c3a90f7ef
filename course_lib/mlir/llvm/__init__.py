"""MLIR's lowest dialects to LLVM IR and machine code: func, cf, arith, math and memref.

    types.py      what a type of MLIR is in LLVM
    scalars.py    arith and math: one instruction each
    memory.py     memref: addresses
    to_llvm.py    func and cf: functions, blocks, phi nodes; the whole module
    execute.py    the module as functions that Python can call

Next room: `types.py`.
"""
