"""Level 2: loop nests over buffers, and programs that run one after the other.

nest.py       statements, loops, kernels         text.py, parse.py   printed, and read back
interp.py     what a kernel means                program.py          a whole model in kernels
"""
