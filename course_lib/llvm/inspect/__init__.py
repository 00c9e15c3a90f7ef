"""What looks at LLVM IR and explains it. Compiling a model needs none of it.

fma.py      how many multiply-adds stand in LLVM IR, and how many a call executes
control/    how often each block of a function runs
plugin/     the counter once more, in C++: a pass that LLVM's own `opt` loads
rows.py, constants.py    integers and branches as plain data; which are known before anything runs
work.py     the same count for the kernels of a model
source.py   which line of the loops became which line of LLVM IR and of assembly
changes.py  what each pass of LLVM's optimizer changed, and its remarks
looking.py  pictures of both
listing.py, llvm_interp.py    scalar LLVM IR as text, taken apart and run: a second witness
layout.py   how large a type is, and where its parts lie
fixed.py    one processor for everybody, so that counts agree
price.py    what one vector operation costs on this processor

Next room: `fma.py`.
"""
