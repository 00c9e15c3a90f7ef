"""What is computed: the two levels of the compiler's intermediate representation.

Level 1 is a graph of tensor operations (`graph/`, `registry.py`, `ops/`), level 2 is a program of
loop nests over buffers (`expr.py`, `loops/`). Each level has a text form
that parses back and an interpreter that defines its meaning.

    graph @f(%x: f32[4]) -> (f32[4]) {          for i in 0..4 {
      %0 = relu(%x) : f32[4]             ==>      y[i] = max(x[i], 0.0)
      return %0                                 }
    }

Start with `types.py` and `graph/node.py`, then read `registry.py`: everything known about an op is
one row.
"""

from course_lib.ir import ops

__all__ = ["ops"]  # importing it fills the table
