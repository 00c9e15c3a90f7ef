"""The counter of `fma.py` as a pass of LLVM, in C++: what a compiler engineer would write.

fma.cpp              what is a multiply-add; the pass, and how LLVM's `opt` finds it
control.h, .cpp      how often each block runs
build.py             compiles the plugin, and runs it under `opt`

Next room: `build.py`.
"""
