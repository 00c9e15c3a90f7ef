"""MLIR: many levels in one form, with xDSL, which is MLIR in Python.

    cf.cond_br  ->  LLVM IR  ->  machine code

Needs the package xdsl, which only this room imports. Next room: `llvm/types.py`, the last step of
all that ends in machine code.
"""
