"""As much of TVM as a backend is plugged into, in Python: for where TVM is not installed.

    tvm = Tvm()                       tvm.relax.dpl, tvm.relax.transform, tvm.compile, ...
    module = written(lambda x: op("nn.relu", x), TensorType((2, 4), "float32"))

What is written for TVM 0.27 and asks no more of it than this runs here as well. The names are
TVM's, and so is what they do: tests run both on the same programs.

tree.py       modules, functions, calls         build.py      how a program is written
dpl.py        patterns, and what they match
transform.py  the passes of a partition         machine.py    values of ops, and the machine
tvm.py        all of it under TVM's names       real.py       a module as one of the real TVM
dense.py      dense layers of integers          regions.py    divided modules, by hand
memory.py     a layer in the chip's DRAM        told.py       a divided module in short

Next room: `tree.py`.
"""
