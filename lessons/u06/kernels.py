"""The kernels of unit 6, as loop text, and what the small processor needs for them.

LINEAR and CONV compute what our compiler makes of two layers for a processor with 16 registers of 8
float32 (tests/units/test_u06.py makes them again). POLY is the polynomial inside our exp. SCALE is
layer scale (CaiT, ConvNeXt), its eight numbers written into the code. Next room: `tables.py`.
"""

from __future__ import annotations

from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel

LINEAR_GRAPH = """
graph @f(%x: f32[6,8], %w: f32[8,16], %b: f32[16]) -> (f32[6,16]) {
  %0 = matmul(%x, %w) : f32[6,16]
  %1 = add(%0, %b) : f32[6,16]
  %2 = relu(%1) : f32[6,16]
  return %2
}"""
LINEAR = """
kernel @linear(x0: f32[6,8], x1: f32[8,16], x2: f32[16], out: f32[6,16]) {
  parallel mo in 0..1 {
    for no in 0..1 {
      local acc: f32[6,16]
      unroll mi in 0..6 {
        vector ni in 0..16 {
          acc[mi, ni] = 0.0
        }
      }
      for k in 0..8 {
        unroll mi_2 in 0..6 {
          vector ni_2 in 0..16 {
            acc[mi_2, ni_2] += x0[mi_2 + 6*mo, k] * x1[k, ni_2 + 16*no]
          }
        }
      }
      unroll mi_3 in 0..6 {
        vector ni_3 in 0..16 {
          out[mi_3 + 6*mo, ni_3 + 16*no] = relu(acc[mi_3, ni_3] + x2[ni_3 + 16*no])
        }
      }
    }
  }
}"""
CONV_GRAPH = """
graph @f(%x: f32[1,2,3,18], %w: f32[4,2,3,3]) -> (f32[1,4,1,16]) {
  %0 = conv(%x, %w) : f32[1,4,1,16]
  %1 = relu(%0) : f32[1,4,1,16]
  return %1
}"""
CONV = """
kernel @conv(x0: f32[1,2,3,18], x1: f32[4,2,3,3], out: f32[1,4,1,16]) {
  parallel oco in 0..1 {
    for o1o in 0..1 {
      local acc: f32[4,16]
      unroll oci in 0..4 {
        vector o1i in 0..16 {
          acc[oci, o1i] = 0.0
        }
      }
      for ic in 0..2 {
        for k0 in 0..3 {
          for k1 in 0..3 {
            unroll oci_2 in 0..4 {
              vector o1i_2 in 0..16 {
                acc[oci_2, o1i_2] += x0[0, ic, k0, k1 + o1i_2 + 16*o1o] * x1[oci_2, ic, k0, k1]
              }
            }
          }
        }
      }
      unroll oci_3 in 0..4 {
        vector o1i_3 in 0..16 {
          out[0, oci_3 + 4*oco, 0, o1i_3 + 16*o1o] = relu(acc[oci_3, o1i_3])
        }
      }
    }
  }
}"""
POLY = """
kernel @poly(x: f32[32], out: f32[32]) {
  local p: f32[32]
  vector i in 0..32 {
    p[i] = 0.00019875691 * x[i] + 0.0013981999
    p[i] = p[i] * x[i] + 0.0083334519
    p[i] = p[i] * x[i] + 0.0416657958
    p[i] = p[i] * x[i] + 0.1666666546
    p[i] = p[i] * x[i] + 0.5
    out[i] = x[i] * x[i] * p[i] + x[i] + 1.0
  }
}"""
FACTORS = (0.9, 1.1, 0.7, 1.3, 0.8, 1.2, 0.6, 1.4)
_ROWS = "\n".join(f"    out[{c}, i] = {f} * x[{c}, i] + y[{c}, i]" for c, f in enumerate(FACTORS))
SCALE = f"""
kernel @scale(x: f32[8,8], y: f32[8,8], out: f32[8,8]) {{
  vector i in 0..8 {{
{_ROWS}
  }}
}}"""
BLEND = """
kernel @blend(x: f32[32], y: f32[32], out: f32[32]) {
  vector i in 0..32 {
    out[i] = 0.5 * x[i] + y[i]
  }
}"""
TEXTS = {"linear + relu": LINEAR, "conv 3×3 + relu": CONV, "polynomial of exp": POLY,
         "layer scale": SCALE, "0.5·x + y": BLEND}  # fmt: skip


def kernels() -> dict[str, Kernel]:
    """The five kernels of the unit's table."""
    return {name: parse_kernel(text) for name, text in TEXTS.items()}


def tile(
    rows: int, vectors: int, depth: int = 4, lanes: int = 8, *, rows_first: bool = True
) -> Kernel:
    """A product of depth steps whose rows × vectors running sums stay in registers.

    rows_first  takes one row after another, for each k; if not, one vector of b after another
    """
    width = vectors * lanes
    loops = [f"unroll i_2 in 0..{rows}", f"unroll v_2 in 0..{vectors}"]
    outer, inner = loops if rows_first else reversed(loops)
    body = "acc[{i}, {lanes}*{v} + {j}]"
    zero, sums, last = (
        body.format(i=f"i{n}", v=f"v{n}", j=f"j{n}", lanes=lanes) for n in ("", "_2", "_3")
    )
    params = f"a: f32[{depth},{rows}], b: f32[{depth},{width}], out: f32[{rows},{width}]"
    return parse_kernel(f"""
kernel @tile({params}) {{
  local acc: f32[{rows},{width}]
  unroll i in 0..{rows} {{ unroll v in 0..{vectors} {{ vector j in 0..{lanes} {{
    {zero} = 0.0
  }} }} }}
  for k in 0..{depth} {{
    {outer} {{ {inner} {{ vector j_2 in 0..{lanes} {{
      {sums} += a[k, i_2] * b[k, {lanes}*v_2 + j_2]
    }} }} }}
  }}
  unroll i_3 in 0..{rows} {{ unroll v_3 in 0..{vectors} {{ vector j_3 in 0..{lanes} {{
    out[i_3, {lanes}*v_3 + j_3] = {last}
  }} }} }}
}}""")
