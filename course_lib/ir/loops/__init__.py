"""Level 2: loop nests over buffers, and programs that run one after the other.

nest.py     statements, loops, kernels, their text     walk.py     found and replaced in them
polyhedra/  which iterations must stay in order        dependence.py   what a loop carries
verify.py   what a kernel must keep to                 parse.py    the text read back
loop_interp.py   what a kernel means                        program.py  a whole model in kernels
cpp.py      the same loops in C++                      prefetch.py    which rows to ask for early
"""
