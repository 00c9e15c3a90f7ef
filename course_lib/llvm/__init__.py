"""Loops -> LLVM IR -> machine code: the code path alone. The only room that sees llvmlite.

parts.py    which functions a kernel becomes
emit.py     a kernel becomes LLVM functions: loops, addresses, vectors
scalars.py  the code of each scalar function, one row each
floats.py, integers.py, casts.py, approx.py    the functions that are more than one instruction
lanes.py    which loops can be a vector, and how its numbers come and go
values.py   the types of LLVM's values, and what all of these files need
entry.py    a function that runs the steps of a program in order
host.py     what processor is this?
objects.py  machine code that is kept from one process to the next
backend.py  LLVM's optimizer and code generator, which need nothing of ours
codegen.py, helpers.py    the same, once on a machine, and in several processes
jit.py      machine code in memory, and functions that Python can call
pool.py     the threads that share the iterations of a kernel
processors.py   kernels as text for processors that are not here
inspect/    what looks at LLVM IR: counts, pictures, an interpreter. Nothing above imports it
"""
