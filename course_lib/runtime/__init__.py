"""What runs a compiled model: executables and their memory.

executable.py   calls the steps in order, on inputs of the caller
buffers.py      where the bytes of each value are       call.py     one step: a kernel, or numpy
direct.py       a model between addresses, without arrays
report.py       what a model cost, by kernel
bounds.py       a debug run: does a kernel leave its buffers?
"""
