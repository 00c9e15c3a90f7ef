"""Kernels of which an operand may be overwritten, for the checks of unit 4 on may_overwrite.

Next room: late.py, kernels that read too late.
"""

from __future__ import annotations

# (words of the specification, kernel, operands that the result may overwrite)
LEGAL: list[tuple[str, str, tuple[str, ...]]] = [
    (
        "elementwise",
        """kernel @add_relu(x0: f32[4,4], x1: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = relu(x0[i, j] + x1[i, j])
    }
  }
}""",
        ("x0", "x1"),
    ),
    (
        "elementwise",
        """kernel @add_bias(x0: f32[4,4], x1: f32[4], out: f32[4,4]) {
  for i in 0..4 {
    for j in 0..4 {
      out[i, j] = x0[i, j] + x1[j]
    }
  }
}""",
        ("x0",),
    ),
    (
        "the residual of an epilogue, read where the result is stored",
        """kernel @matmul_add(x0: f32[4,4], x1: f32[4,4], x2: f32[4,4], out: f32[4,4]) {
  for m in 0..4 {
    for n in 0..4 {
      local acc: f32[]
      acc[] = 0.0
      for k in 0..4 {
        acc[] += x0[m, k] * x1[k, n]
      }
      out[m, n] = acc[] + x2[m, n]
    }
  }
}""",
        ("x2",),
    ),
    (
        "rows, such as a softmax",
        """kernel @divide_by_sum(x0: f32[4,4], out: f32[4,4]) {
  for i in 0..4 {
    local acc: f32[]
    acc[] = 0.0
    for j in 0..4 {
      acc[] += x0[i, j]
    }
    for k in 0..4 {
      out[i, k] = x0[i, k] / acc[]
    }
  }
}""",
        ("x0",),
    ),
    (
        "rows, such as a softmax",
        """kernel @softmax(x0: f32[4], out: f32[4]) {
  local top: f32[]
  top[] = -inf
  for i in 0..4 {
    top[] max= x0[i]
  }
  local sum: f32[]
  sum[] = 0.0
  for j in 0..4 {
    sum[] += exp(x0[j] - top[])
  }
  for k in 0..4 {
    out[k] = exp(x0[k] - top[]) / sum[]
  }
}""",
        ("x0",),
    ),
    (
        "elementwise",
        """kernel @double(x0: i32[], out: i32[]) {
  out[] = x0[] + x0[]
}""",
        ("x0",),
    ),
    (
        "elementwise",
        """kernel @square(x0: f64[4], out: f64[4]) {
  for i in 0..4 {
    out[i] = x0[i] * x0[i]
  }
}""",
        ("x0",),
    ),
    (
        "elementwise",
        """kernel @of_blocks(x0: i64[2,3,2,2], x1: i64[2,3,2,2], out: i64[2,3,2,2]) {
  for n in 0..2 {
    for c in 0..3 {
      for h in 0..2 {
        for w in 0..2 {
          out[n, c, h, w] = max(x0[n, c, h, w], x1[n, c, h, w])
        }
      }
    }
  }
}""",
        ("x0", "x1"),
    ),
    (
        "the residual of an epilogue, read where the result is stored",
        """kernel @conv(x0: f32[1,2,4,4], x1: f32[2,2,3,3], x2: f32[1,2,2,2], out: f32[1,2,2,2]) {
  for n in 0..1 {
    for o in 0..2 {
      for h in 0..2 {
        for w in 0..2 {
          local acc: f32[]
          acc[] = 0.0
          for c in 0..2 {
            for i in 0..3 {
              for j in 0..3 {
                acc[] += x0[n, c, h + i, w + j] * x1[o, c, i, j]
              }
            }
          }
          out[n, o, h, w] = relu(acc[] + x2[n, o, h, w])
        }
      }
    }
  }
}""",
        ("x2",),
    ),
    (
        "rows, such as a softmax",
        """kernel @normalize(x0: f32[2,2,4], x1: f32[4], out: f32[2,2,4]) {
  for a in 0..2 {
    for b in 0..2 {
      local mean: f32[]
      mean[] = 0.0
      for i in 0..4 {
        mean[] += x0[a, b, i] * 0.25
      }
      local square: f32[]
      square[] = 0.0
      for j in 0..4 {
        square[] += (x0[a, b, j] - mean[]) * (x0[a, b, j] - mean[])
      }
      for k in 0..4 {
        out[a, b, k] = (x0[a, b, k] - mean[]) / (square[] + 1.0) * x1[k]
      }
    }
  }
}""",
        ("x0",),
    ),
]
