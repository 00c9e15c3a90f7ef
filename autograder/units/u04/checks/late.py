"""Kernels that read an element after it was written, for the checks of unit 4 on may_overwrite.

Next room: steps.py, the checks.
"""

from __future__ import annotations

# Kernels of which no operand may be overwritten: (why, words of the specification, kernel).
ILLEGAL: list[tuple[str, str, str]] = [
    (
        "Element [0, 3] is read for the last row of the result, after it was written in the first.",
        "a transpose",
        """kernel @transpose(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[j, i]
    }
  }
}""",
    ),
    (
        "It is read at two places, and one of them is not where the result is stored.",
        "a transpose",
        """kernel @add_transposed(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[i, j] + x0[j, i]
    }
  }
}""",
    ),
    (
        "The first column is read by the whole row.",
        "a broadcast",
        """kernel @minus_first(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[i, j] - x0[i, 0]
    }
  }
}""",
    ),
    (
        "The neighbour on the left was just written.",
        "a window",
        """kernel @running(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 1..4 {
      out[i, j] = max(x0[i, j], x0[i, j - 1])
    }
  }
}""",
    ),
    (
        "A whole row is read for each element of it.",
        "a matrix product",
        """kernel @row_sums(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      local acc: f32[]
      acc[] = 0.0
      for k in 0..4 {
        acc[] += x0[i, k]
      }
      out[i, j] = acc[]
    }
  }
}""",
    ),
    (
        "Which row is read depends on data.",
        "an index that is data",
        """kernel @gather(x0: f32[4,4], x1: i64[4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[x1[i], j]
    }
  }
}""",
    ),
    (
        "The second loop reads what the first one has overwritten.",
        "True only if no element is read after it was written",
        """kernel @twice(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[i, j] * 2.0
    }
    for k in 0..4 {
      out[i, k] = x0[i, k] + 1.0
    }
  }
}""",
    ),
    (
        "Its last elements are read after the first iterations have written them. (The loop "
        "carries dependences through two buffers: acc is one, and out is the other.)",
        "True only if no element is read after it was written",
        """kernel @cum(x0: f32[4], out: f32[4]) {
  local acc: f32[]
  acc[] = 0.0
  for j in 0..4 {
    acc[] += x0[j]
    out[3 - j] = acc[]
  }
}""",
    ),
    (
        "Element [i, 0] is read by the second line, after the first line wrote it.",
        "True only if no element is read after it was written",
        """kernel @swap(x0: f32[4,2], out: f32[4,2]) {
  for i in 0..4 {
    out[i, 0] = x0[i, 1]
    out[i, 1] = x0[i, 0]
  }
}""",
    ),
    (
        "The one element is read by the second line, after the first line wrote it.",
        "True only if no element is read after it was written",
        """kernel @again(x0: f32[1], out: f32[1]) {
  out[0] = x0[0] * 2.0
  out[0] = x0[0] + 1.0
}""",
    ),
    (
        "The bytes of an i32 are not those of an f32.",
        "It must refuse an operand of another type",
        """kernel @cast(x0: f32[4,4], out: i32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = cast(x0[i, j], i32)
    }
  }
}""",
    ),
    (
        "`x0` is an f32[4] and `out` an f32[4,1]: as many bytes, but another type.",
        "It must refuse an operand of another type",
        """kernel @as_column(x0: f32[4], out: f32[4,1]) {
  for i in 0..4 {
    for j in 0..1 {
      out[i, j] = relu(x0[i])
    }
  }
}""",
    ),
    (
        "The second half is read after the first half has been written over it.",
        "True only if no element is read after it was written",
        """kernel @reverse(x0: f32[4], out: f32[4]) {
  for i in 0..4 {
    out[3 - i] = x0[i]
  }
}""",
    ),
    (
        "It is read once more after it was written, with something else in between.",
        "True only if no element is read after it was written",
        """kernel @later(x0: f32[4], x1: f32[4], out: f32[4]) {
  for i in 0..4 {
    out[i] = x0[i] * 2.0
    local half: f32[]
    half[] = x1[i] * 0.5
    out[i] = x0[i] + half[]
  }
}""",
    ),
    (
        "The inner loop has written the row before its first element is read again.",
        "True only if no element is read after it was written",
        """kernel @row_then_first(x0: f32[4,4], x1: f32[4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[i, j] * x1[j]
    }
    out[i, 0] = x0[i, 0] + 1.0
  }
}""",
    ),
    (
        "The loop over k reads and writes the row again for every k.",
        "a matrix product",
        """kernel @again_and_again(x0: f32[4,4], x1: f32[4], out: f32[4,4]) {
  for i in 0..4 {
    for k in 0..4 {
      for j in 0..4 {
        out[i, j] = x0[i, j] * x1[k]
      }
    }
  }
}""",
    ),
    (
        "Each row reads the one above it, which was just written.",
        "a window",
        """kernel @from_above(x0: f32[4,4], out: f32[4,4]) {
  for i in 1..4 {
    for j in 0..4 {
      out[i, j] = x0[i, j] + x0[i - 1, j]
    }
  }
}""",
    ),
    (
        "The last loop reads each element again after it was written.",
        "rows, such as a softmax",
        """kernel @sum_then_twice(x0: f32[4,4], x1: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    local acc: f32[]
    acc[] = 0.0
    for j in 0..4 {
      acc[] += x1[i, j]
    }
    for k in 0..4 {
      out[i, k] = x0[i, k] * acc[]
      out[i, k] = x0[i, k] + 1.0
    }
  }
}""",
    ),
    (
        "There is no room for eight numbers in four, though each is read where it is stored.",
        "It must refuse an operand of another type",
        """kernel @concat(x0: f32[4], x1: f32[4], out: f32[8]) {
  for i in 0..4 {
    out[i] = x0[i]
  }
  for j in 0..4 {
    out[j + 4] = x1[j]
  }
}""",
    ),
]
