"""Loops -> LLVM IR -> machine code. The only room that sees llvmlite.

emit.py     a kernel becomes LLVM functions: loops, addresses, vectors
scalars.py  one case for each scalar function, on numbers and on vectors of them
host.py     what processor is this?
jit.py      LLVM's optimizer and code generator, and functions that Python can call
price.py    what one vector operation costs on this processor
"""
