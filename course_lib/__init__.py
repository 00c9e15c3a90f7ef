"""A complete, small, real machine-learning compiler, written to be read.

    import course_lib
    run = course_lib.compile(model, example_inputs)     # a torch module, an ONNX file or a Graph
    run(x)                                              # the answer
    print(run.report())                                 # what it cost

Importing this package loads nothing heavy: torch, onnx and llvmlite are imported by the one room
that needs each of them, when it is first used. Next room: `compiler.py`, the front door.
"""

from course_lib.compiler import compile

__all__ = ["compile"]
__version__ = "0.1.0"
