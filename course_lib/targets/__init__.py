"""What a compilation is for: machine code, the interpreter, the chip. One file each.

    target.py       what all of them are given and what they give back; finds one by its name
    cpu.py          graph -> loops -> memory plan -> LLVM IR -> machine code
    interpreter.py  the graph as it is, run with numpy
    systolic.py     8-bit integers on the simulated chip, and the processor for the rest
    tuned.py        what was searched beforehand, for those who ask

A target's file is imported when its name is asked for, and what it stands on (`llvm/`,
`accelerator/`) with it: whoever runs the interpreter loads neither.
"""
