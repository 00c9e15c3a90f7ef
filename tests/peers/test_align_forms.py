"""Dumps of each form as statements: what is read where it is called, and what it is."""

import pytest

from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.operation import attentions, convolutions
from course_lib.peers.align.other_forms import read

HLO = """HloModule jit_f

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%most (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %most.1 = f32[] maximum(%a, %b)
}

%fused (p: f32[4,4]) -> f32[4,4] {
  %p = f32[4,4]{1,0} parameter(0)
  %c = f32[] constant(-inf)
  %m = f32[4]{0} reduce(%p, %c), dimensions={1}, to_apply=%most
  %w = f32[4,4]{1,0} broadcast(%m), dimensions={0}
  %s = f32[4,4]{1,0} subtract(%p, %w)
  ROOT %e = f32[4,4]{1,0} exponential(%s)
}

ENTRY %main (q: f32[4,4], k: f32[4,4]) -> f32[4,4] {
  %q = f32[4,4]{1,0} parameter(0)
  %k = f32[4,4]{1,0} parameter(1)
  %dot.1 = f32[4,4]{1,0} dot(%q, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %fusion = f32[4,4]{1,0} fusion(%dot.1), kind=kLoop, calls=%fused
  %z = f32[] constant(0)
  %t = f32[4]{0} reduce(%fusion, %z), dimensions={1}, to_apply=%add
  %u = f32[4,4]{1,0} broadcast(%t), dimensions={0}
  %n = f32[4,4]{1,0} divide(%fusion, %u)
  ROOT %dot.2 = f32[4,4]{1,0} dot(%n, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def test_a_fusion_of_hlo_is_read_where_it_is_called():
    (place,) = attentions(read(HLO))
    assert [one.word for one in place if one.computes] == [
        "dot", "reduce", "subtract", "exponential", "reduce", "divide", "dot"]  # fmt: skip
    assert [one.kernel.word for one in place if one.computes].count("fusion") in (0, 3)
    assert len({one.kernel for one in place if one.computes}) == 5
    (alone,) = attentions(read(HLO.replace("dot(%q, %k)", "add(%q, %k)"))) or [None]
    assert alone is None


UOPS = """# b1 is an input, x
c1 = UOp.new_buffer('CPU', 12, dtypes.float, 1)
c2 = UOp(Ops.STACK, dtypes.weakint, (UOp.const(3, dtypes.weakint), UOp.const(4, dtypes.weakint)))
c3 = UOp(Ops.RESHAPE, dtypes.float, (c1, c2))
c4 = UOp(Ops.PERMUTE, dtypes.float, ((c3*c3),), (1, 0))
c5 = UOp(Ops.PERMUTE, dtypes.float, ((c3*UOp.const(2.0, dtypes.weakfloat)),), (1, 0))
c6 = UOp(Ops.PERMUTE, dtypes.float, ((c3*c3.sqrt()),), (2, 0, 1))
c7 = c4._rop(Ops.ADD, (0,))+c5._rop(Ops.ADD, (0,))+c6._rop(Ops.ADD, (0,))
c8 = (UOp.const(0.0, dtypes.weakfloat)<c7).alu(Ops.WHERE, c7, UOp.const(0.0, dtypes.weakfloat))
c9 = c8.exp2()
ast = c8.sink()
"""


def test_tinygrads_sums_of_products_are_those_of_two_values():
    """Squares, and a multiple, are summed, too; what the result does not need is not read."""
    found = {one.word: one.kinds for one in read(UOPS) if one.kinds != {"pointwise"}}
    assert found == {"sum": {"reduce_sum"}, "sum of products": {"matmul"}, "where": {"max"}}
    (product,) = (one for one in read(UOPS) if one.word == "sum of products")
    assert product.lines == [8, 7]
    images = UOPS.replace("(2, 0, 1)", "(5, 6, 7, 0, 1, 2, 3, 4)")
    assert [one.kinds for one in read(images) if "products" in one.word] == [{"conv"}]


JAXPR = """{ lambda a:f32[4]; b:f32[4,4] c:f32[4,4]. let
    d:f32[4,4] = dot_general[
      dimension_numbers=(([1], [0]), ([], []))
      preferred_element_type=float32
    ] b c
    e:f32[4,4] = jit[
      name=softmax
      jaxpr={ lambda ; d:f32[4,4]. let
          f:f32[4] = reduce_max[axes=(1,) out_sharding=None] d
          g:f32[4,1] = broadcast_in_dim[broadcast_dimensions=(0,)] f
          h:f32[4,1] = stop_gradient g
          i:f32[4,4] = sub d h
          j:f32[4,4] = exp i
          k:f32[4] = reduce_sum[axes=(1,) out_sharding=None] j
          l:f32[4,1] = broadcast_in_dim[broadcast_dimensions=(0,)] k
          e:f32[4,4] = div j l
        in (e,) }
    ] d
    m:f32[4,4] = dot_general[dimension_numbers=(([1], [0]), ([], []))] e c
    n:f32[4,4] = mul m 2.0:f32[]
  in (n,) }
"""


def test_a_function_within_a_jaxpr_is_read_where_it_is_called():
    (place,) = attentions(read(JAXPR))
    assert [one.word for one in place if one.computes] == [
        "dot_general", "reduce_max", "sub", "exp", "reduce_sum", "div", "dot_general"]  # fmt: skip
    assert (place[0].first, place[0].last, place[-1].first) == (2, 5, 19)
    assert not attentions(read(JAXPR.replace("dot_general[\n", "add[\n")))


def test_a_kernel_of_inductor_reads_what_was_written_last():
    code = """async_compile = AsyncCompile()
cpp_fused_relu_0 = async_compile.cpp_pybinding(['float*', 'const float*'], r''' ''')
    def call(self, args):
        buf0 = extern_kernels.convolution(arg0_1, arg1_1, stride=(1, 1))
        buf1 = buf0; del buf0  # reuse
        cpp_fused_relu_0(buf1, arg2_1)
        # Topologically Sorted Source Nodes: [y], Original ATen: [aten.convolution]
        buf2 = extern_kernels.convolution(buf1, arg3_1, stride=(1, 1))
        buf3 = buf1; del buf1  # reuse
        cpp_fused_relu_0(buf3, arg2_1)
        return (buf2, )
"""
    statements = read(code)
    assert [one.word for one in statements][:2] == [
        "extern_kernels.convolution",
        "cpp_fused_relu_0",
    ]
    (place,) = convolutions(statements)
    assert [one.first for one in place] == [4, 6] and statements[2].nodes == {"y"}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("aten.bmm.default", "matmul"),
        ("com.microsoft.nchwc.Conv", "conv"),
        ("linalg.conv_2d_nchw_fchw", "conv"),
        ("SoftMax", "softmax"),
        ("max_pool2d", "pool"),
        ("ReLU", "relu"),
        ("leaky_relu", "curve"),
        ("LayerNormalization", "other"),
        ("torch.ops.aten.relu6.default", "relu"),
        ("fused_matmul1_multiply", "matmul pointwise"),
    ],
)
def test_a_word_says_its_kinds(word, expected):
    assert kinds(word) == set(expected.split())
