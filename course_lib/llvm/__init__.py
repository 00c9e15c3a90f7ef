"""Loops -> LLVM IR -> machine code. The only room that sees llvmlite.

emit.py     a kernel becomes LLVM functions: loops, addresses, vectors
scalars.py  the code of each scalar function, one row each
floats.py, integers.py, casts.py, approx.py    the functions that are more than one instruction
values.py   the types of LLVM's values, and what all of these files need
host.py     what processor is this?
objects.py  machine code that is kept from one process to the next
jit.py      LLVM's optimizer and code generator, and functions that Python can call
price.py    what one vector operation costs on this processor
"""
