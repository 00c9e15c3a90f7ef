"""MLIR: many levels in one form, with xDSL, which is MLIR in Python.

    toy.transpose  ->  affine.for  ->  scf.for  ->  cf.cond_br  ->  LLVM IR  ->  machine code

Needs the package xdsl, which only this room imports. Next room: `trouble.py`; then
`toy/source.py`, a whole compiler for a small language, and `llvm/types.py`, the last step of all
that ends in machine code.
"""
