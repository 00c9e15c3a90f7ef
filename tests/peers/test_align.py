"""One operation found again in the dumps of other systems, in models that the code has never seen.

A place that only looks alike is worse than none: what cannot be told apart is not found, and the
reason is said.
"""

import math
import re
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn

from course_lib.peers.align import align, attention, conv_relu, stepper_of, table_of
from course_lib.peers.align.alignment import Names, in_stage
from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.operation import attentions, convolutions
from course_lib.peers.align.other_forms import read
from course_lib.peers.model import model_of
from course_lib.peers.peer import PEERS, lacking, peer
from course_lib.peers.running import Running
from course_lib.recorded import read as read_recording

SYSTEMS = ["course", "onnxruntime", "openvino", "mnn", "jax", "iree"]


class Mixed(nn.Module):
    """A 1 × 1 convolution with ReLU6, and attention whose queries are scaled before the product,
    with a mask and with fewer heads of keys than of queries."""

    def __init__(self):
        super().__init__()
        self.thin, self.normed = nn.Conv2d(3, 8, 1, bias=False), nn.BatchNorm2d(8)
        self.ask, self.tell, self.give = nn.Linear(8, 32), nn.Linear(8, 16), nn.Linear(8, 16)
        self.register_buffer("mask", torch.triu(torch.full((16, 16), -1e4), 1))

    def forward(self, image):
        seen = nn.functional.relu6(self.normed(self.thin(image)))
        rows = seen.flatten(2).transpose(1, 2)  # [1, 16, 8]
        asked = self.ask(rows).reshape(1, 16, 4, 8).transpose(1, 2) * (1 / math.sqrt(8))
        told, given = (part(rows).reshape(1, 16, 2, 8).transpose(1, 2)[:, :, None]
                       .expand(1, 2, 2, 16, 8).reshape(1, 4, 16, 8)
                       for part in (self.tell, self.give))  # fmt: skip
        weights = torch.softmax(asked @ told.transpose(-1, -2) + self.mask, -1)
        return (weights @ given).transpose(1, 2).reshape(1, 16, 32)


class Before(nn.Module):
    """A block that normalizes and activates before it convolves: one convolution with a batch norm
    and ReLU behind it, one whose result is added first."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(4), nn.BatchNorm2d(8)
        self.conv1, self.conv2 = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x):
        y = self.conv1(torch.relu(self.norm1(x)))
        return torch.relu(self.conv2(torch.relu(self.norm2(y))) + x)


class Twice(nn.Module):
    """Two attentions beside each other, of the same form."""

    def forward(self, q, k, v):
        first = torch.softmax(q @ k.transpose(-1, -2), -1) @ v
        second = torch.softmax(k @ q.transpose(-1, -2), -1) @ v
        return first + second


@cache
def mixed():
    torch.manual_seed(0)
    return model_of(Mixed().eval(), [torch.randn(1, 3, 4, 4).numpy()])


@cache
def dump(system: str) -> dict[str, str]:
    with Running(system, mixed()) as engine:
        return engine.stages()


@pytest.mark.parametrize("system", SYSTEMS)
def test_both_operations_are_found_in_an_unseen_model(system, missing):
    if absent := lacking(PEERS[system]):
        missing(absent)
    stages = dump(system)
    for operation in (attention(mixed()), conv_relu(mixed())):
        found = align(operation, {system: stages})[system]
        first = next(iter(found.values())) if system != "jax" else found["stablehlo"]
        assert first, (operation.title, first.how)
        assert sum(map(bool, found.values())) >= (1 if system in ("mnn", "iree") else 2), found
        for stage, one in found.items():
            text = stages[stage].splitlines()
            assert all(text[number - 1] == line for number, line in one.lines.items())
            assert one or one.how.startswith("not found: ")


# What of a system's last stages says where each operation went; an empty one: nothing does.
LAST = {
    "course": ({"loops", "assembly"}, {"loops", "assembly"}),
    "onnxruntime": ({"optimized"}, {"optimized"}),
    "openvino": ({"common", "runtime"}, {"common", "runtime"}),
    "mnn": (set(), set()),
    "jax": ({"jaxpr", "optimized hlo", "llvm ir"}, {"jaxpr", "hlo"}),
    "iree": ({"flow", "hal", "vm", "LLVM IR", "assembly"}, {"input", "preprocessing"}),
}
SCORES = re.compile(r"\b4 16 16\b")  # the numbers of their lines: of the scores, of the image
IMAGE = re.compile(r"\b8 4 4\b|\b4 4 8\b|\b16 8\b|\b8 3 1 1\b")
OTHERS = re.compile(r"\b16 32\b|\b32 8\b|\b8 3 1 1\b")  # of other products, of the filter


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_found_has_the_sizes_of_the_operation(system, missing):
    """Those of the queries, keys and values, which are products too, are others."""
    if absent := lacking(PEERS[system]):
        missing(absent)
    found = [align(operation, {system: dump(system)})[system]
             for operation in (attention(mixed()), conv_relu(mixed()))]  # fmt: skip
    for stages, last in zip(found, LAST[system], strict=True):
        assert last <= {name for name, one in stages.items() if one}
    for stage, (one, other) in {name: [each[name] for each in found] for name in found[0]}.items():
        assert not one.lines.keys() & other.lines.keys(), stage
        sizes, image = (_sizes("\n".join(each.lines.values())) for each in (one, other))
        shown = system in ("course", "jax", "iree")  # the others' lines have names alone, or few
        if one and one.how != "by the kernel's name":
            assert (SCORES.search(sizes) or not shown) and not OTHERS.search(sizes), (stage, sizes)
        if other and other.how != "by the kernel's name":
            assert (IMAGE.search(image) or not shown) and not SCORES.search(image), (stage, image)


def _sizes(text: str) -> str:
    """The numbers of a text, without those of its types."""
    return " ".join(re.findall(r"\d+", re.sub(r"[A-Za-z]*(?:f|FP|float|si|i)(?:32|64)", " ", text)))


def test_torch_compile_says_from_which_nodes_a_kernel_was_made():
    """As recorded, because it compiles for too long: between the products, one kernel."""
    stages = dict(read_recording(Path(__file__).with_name("mixed_by_torch.txt")).texts)
    found = align(attention(mixed()), {"torch.compile": stages})["torch.compile"]
    assert (found["fx graph"].how, found["code"].how) == ("by pattern", "by name")
    first, between, last = found["code"].kernels
    assert first == last == "extern_kernels.bmm" and "softmax" in between
    found = align(conv_relu(mixed()), {"torch.compile": stages})["torch.compile"]
    assert found["code"].how == "by name" and len(found["code"].kernels) == 2
    assert found["code"].kernels[0] == "extern_kernels.convolution"


def test_ours_needs_three_kernels_for_attention_and_one_for_the_convolution():
    found = align(attention(mixed()), {"course": dump("course")})["course"]
    assert len(found["loops"].kernels) == 3 and found["loops"].how == "by name"
    (kernel,) = align(conv_relu(mixed()), {"course": dump("course")})["course"]["loops"].kernels
    assert kernel.startswith("conv")


def test_the_lines_are_those_of_the_operation():
    lines = align(attention(mixed()), {"": dump("onnxruntime")})[""]["onnx"].lines.values()
    ops = [line.split(" = ")[1].split(" ")[0] for line in lines]
    assert ops == ["MatMul", "Add", "Softmax", "MatMul"], "the scale is before the product"
    lines = align(conv_relu(mixed()), {"": dump("onnxruntime")})[""]["onnx"].lines.values()
    assert [line.split(" = ")[1].split(" ")[0] for line in lines] == [
        "Conv", "BatchNormalization", "Clip"]  # fmt: skip


def test_what_is_added_before_relu_is_another_operation():
    given = model_of(Before().eval(), [torch.randn(1, 4, 6, 6).numpy()])
    operation = conv_relu(given)
    assert operation.count == 1 and "conv1" in operation.names and "conv2" not in operation.names
    with pytest.raises(ValueError, match=r"before has 1 of conv .* relu, so none is number 1"):
        conv_relu(given, 1)
    stages = peer("onnxruntime").prepare(given).stages()
    for found in align(operation, {"onnxruntime": stages})["onnxruntime"].values():
        text = "".join(found.lines.values())
        assert "conv1" in text or "relu_1" in text or not found
        assert not any(word in text for word in ("conv2.weight", "[conv2", "relu_2"))


def test_places_beside_each_other_are_not_told_apart_by_their_order():
    x = [torch.randn(1, 2, 4, 4).numpy() for _ in range(3)]
    given = model_of(Twice().eval(), x)
    first, second = attention(given), attention(given, 1)
    assert first.count == 2
    text = peer("jax").prepare(given).stages()["stablehlo"] if not lacking(PEERS["jax"]) else ""
    for operation in (first, second):
        found, _ = in_stage(operation, read(text), text.splitlines(), Names(operation.names))
        assert not found and (not text or "in no certain order" in found.how)
    ours = [align(one, {"course": {"import": f"{given.graph}"}})["course"]["import"]
            for one in (first, second)]  # fmt: skip
    assert all(one.how == "by name" for one in ours)
    assert not ours[0].lines.keys() & ours[1].lines.keys()


def test_a_softmax_of_no_product_is_no_attention():
    class Pooled(nn.Module):
        def forward(self, x, v):
            return torch.softmax(x, -1) @ v

    given = model_of(Pooled().eval(), [torch.randn(1, 4, 4).numpy() for _ in range(2)])
    with pytest.raises(ValueError, match="has 0 of softmax"):
        attention(given)


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


RELAX = """class Module:
    @R.function
    def main(q: R.Tensor((4, 8), dtype="float32"), k: R.Tensor((4, 8), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 4), dtype="float32") = R.permute_dims(k, axes=[1, 0])
            lv1 = R.call_tir(fused_matmul1_divide, (q, lv), out_ty=R.Tensor((4, 4), "float32"))
            lv2 = R.call_tir(cls.softmax, (lv1,), out_ty=R.Tensor((4, 4), dtype="float32"))
            gv = R.call_tir(matmul2, (lv2, k), out_ty=R.Tensor((4, 8), dtype="float32"))
"""


def test_a_kernel_of_tvm_is_named_where_it_is_called():
    (place,) = attentions(read(RELAX))
    assert [one.calls for one in place] == ["fused_matmul1_divide", "softmax", "matmul2"]


LOWERED = {
    "calls": "    fused_matmul1_divide(q, alloc, alloc1)\n    softmax(alloc1, alloc2)\n"
             "    softmax1(alloc1, alloc2)\n    matmul2(alloc2, k, alloc3)\n",
    "softmax: TIR": "def main(a: T.Buffer((4, 4))):\n    pass\n",
    "softmax1: TIR": "def main(a: T.Buffer((8, 8))):\n    pass\n",
    "LLVM IR": "define void @matmul(ptr %0) {\n  ret void\n}\n"
               "define i32 @__tvm_ffi_matmul2(ptr %0) {\n  call void @softmax(ptr %0)\n}\n"
               "define void @softmax.1(ptr %0) {\n  ret void\n}\n"
               "define void @softmax1_compute_(ptr %0) {\n  ret void\n}\n",
}  # fmt: skip


def test_the_code_of_a_kernel_has_its_whole_name():
    """`matmul`, `softmax1` and `softmax.1` are other kernels, and a call is no definition."""
    found = align(attention(mixed()), {"tvm": {"FuseTIR": RELAX, **LOWERED}})["tvm"]
    assert found["FuseTIR"].how == "by pattern"
    assert list(found["calls"].lines) == [1, 2, 4] and list(found["LLVM IR"].lines) == [4, 5, 6]
    assert found["LLVM IR"].kernels == ("matmul2",)
    assert found["softmax: TIR"] and not found["softmax1: TIR"]
    assert found["softmax1: TIR"].how == "not found: the text of a kernel that does not compute it"


def test_of_two_calls_of_a_kernel_none_is_taken():
    """One of them would be another operation's."""
    twice = LOWERED["calls"] + "    matmul2(alloc3, k, alloc4)\n"
    found = align(attention(mixed()), {"tvm": {"FuseTIR": RELAX, "calls": twice}})["tvm"]
    assert not found["calls"] and found["calls"].how.startswith("not found: ")


def test_a_word_that_an_earlier_stage_used_is_no_name_of_the_kernel():
    before = RELAX.replace("fused_matmul1_divide", "matmul")  # later, another product has the name
    code = "define void @matmul(ptr %0) {\n  ret void\n}\n"
    stages = {"LegalizeOps": before, "FuseTIR": RELAX, "LLVM IR": code}
    found = align(attention(mixed()), {"tvm": stages})["tvm"]
    assert found["LegalizeOps"] and found["FuseTIR"] and not found["LLVM IR"]


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


def test_table_and_slider_say_how_each_was_found():
    found = align(attention(mixed()), {s: dump(s) for s in ("course", "onnxruntime")})
    table, slider = f"{table_of(found)}", stepper_of(found)
    assert "onnx: by name" in table and "by the kernel's name" in table
    assert "onnxruntime: optimized" in slider.text and "computed by: " in slider.text
