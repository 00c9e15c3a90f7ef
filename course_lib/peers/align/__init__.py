"""One operation found again in every system's dumps, with how it was found.

    from course_lib.peers.align import align, attention
    found = align(attention("block"), {"ours": stages, "onnxruntime": stages})
    found["onnxruntime"]["optimized"].how     ->  "by name"

kinds.py         one table of the words that systems have for an operation
reading.py       a dump as statements; other_forms.py: those that are not written a value a line,
                 jaxprs.py: JAX's own, uops.py: tinygrad's, inductor.py: Inductor's program,
                 cpp_loops.py: the C++ in it
operation.py     what is looked for, as a pattern, and its names in the model's graph
alignment.py     which lines of a stage it is, or why that is not known
found.py         what is known of it
pages.py         a table stages x systems, and a slider through them

Next room: `statement.py`.
"""

from course_lib.peers.align.alignment import align
from course_lib.peers.align.found import Alignment, Found
from course_lib.peers.align.operation import Operation, attention, conv_relu
from course_lib.peers.align.pages import stepper_of, table_of

__all__ = [
    "Alignment",
    "Found",
    "Operation",
    "align",
    "attention",
    "conv_relu",
    "stepper_of",
    "table_of",
]
