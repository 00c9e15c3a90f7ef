"""What is computed: the two levels of the compiler's intermediate representation.

Level 1 is a graph of tensor operations (`graph`, `ops`, `text`, `interp`), level 2 is a program of
loop nests over buffers (`expr`, `loops`, `loops_text`, `loops_interp`). Each level has a text form
that parses back and an interpreter that defines its meaning.

    graph @f(%x: f32[4]) -> (f32[4]) {          for i in 0..4 {
      %0 = relu(%x) : f32[4]             ==>      y[i] = max(x[i], 0.0)
      return %0                                 }
    }

Start with `types.py` and `graph.py`, then read `ops.py`: everything known about an op is one row.
"""
