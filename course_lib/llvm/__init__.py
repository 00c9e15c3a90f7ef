"""Loops -> LLVM IR -> machine code. The only room that sees llvmlite.

parts.py    which functions a kernel becomes
emit.py     a kernel becomes LLVM functions: loops, addresses, vectors
scalars.py  the code of each scalar function, one row each
floats.py, integers.py, casts.py, approx.py    the functions that are more than one instruction
values.py   the types of LLVM's values, and what all of these files need
host.py     what processor is this?
objects.py  machine code that is kept from one process to the next
backend.py  LLVM's optimizer and code generator, which need nothing of ours
codegen.py, helpers.py    the same, once on a machine, and in several processes
jit.py      machine code in memory, and functions that Python can call
price.py    what one vector operation costs on this processor
fma.py      how many multiply-adds stand in LLVM IR, and how many a call executes
control/    how often each block of a function runs
plugin/     the counter once more, in C++: a pass that LLVM's own `opt` loads
work.py     the same count for the kernels of a model
source.py   which line of the loops became which line of LLVM IR and of assembly
changes.py  what each pass of LLVM's optimizer changed, and its remarks
looking.py  pictures of both
"""
