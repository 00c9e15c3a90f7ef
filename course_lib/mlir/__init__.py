"""MLIR: many levels in one form. Graphs go out to it and come back, and a language grows in it.

    %0 = relu(%x) : f32[4]     <->     %0 = linalg.generic {...} ins(%x : tensor<4xf32>) ...
    toy.transpose  ->  affine.for  ->  scf.for  ->  cf.cond_br  ->  LLVM IR  ->  machine code

`out/` and `into/` need no package; `toy/` and `llvm/` need xDSL, which is MLIR in Python and which
only this room imports. Next room: `out/writer.py`, a graph as MLIR; `toy/source.py`, a whole
compiler for a small language; `llvm/types.py`, the last step of all that ends in machine code.
"""
