"""Level 2: loop nests over buffers, and programs that run one after the other.

nest.py     statements, loops, kernels, their text     walk.py     found and replaced in them
verify.py   what a kernel must keep to                 parse.py    the text read back
interp.py   what a kernel means                        program.py  a whole model in kernels
cpp.py      the same loops in C++
"""
