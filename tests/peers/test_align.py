"""One operation found again in the dumps of other systems, in models that the code has never seen.

A place that only looks alike is worse than none: what cannot be told apart is not found, and the
reason is said.
"""

import math
import re
from functools import cache

import pytest
import torch
from torch import nn

from course_lib.peers import torch_compile
from course_lib.peers.align import (
    Alignment,
    Found,
    align,
    attention,
    conv_relu,
    stepper_of,
    table_of,
)
from course_lib.peers.align.alignment import Names, in_stage
from course_lib.peers.align.operation import attentions
from course_lib.peers.align.other_forms import read
from course_lib.peers.model import model_of
from course_lib.peers.peer import PEERS, lacking, peer
from course_lib.peers.running import Running

SYSTEMS = ["course", "onnxruntime", "openvino", "mnn", "jax", "iree", "tinygrad"]


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
def before():
    torch.manual_seed(0)
    return model_of(Before().eval(), [torch.randn(1, 4, 6, 6).numpy()])


@cache
def twice():
    return model_of(Twice().eval(), [torch.randn(1, 2, 4, 4).numpy() for _ in range(3)])


MODELS = {"mixed": mixed, "before": before, "twice": twice}


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
    "tinygrad": ({"tensors", "schedule", "r_64_16n1: C"}, {"tensors", "schedule", "r_8_16_3: C"}),
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


@cache
def inductor(name: str, freezing: bool = False) -> dict[str, str]:
    """What Inductor writes. The C++ is not compiled, so that takes two seconds."""
    with torch_compile.uncompiled():
        return torch_compile.prepare(MODELS[name](), 1, freezing).stages()


def test_torch_compile_says_from_which_nodes_a_kernel_was_made():
    found = align(attention(mixed()), {"torch.compile": inductor("mixed")})["torch.compile"]
    assert (found["fx graph"].how, found["aten graph"].how) == ("by pattern", "by pattern")
    assert found["code"].how == "by name"
    first, between, last = found["code"].kernels
    assert first == last == "extern_kernels.bmm" and "softmax" in between
    found = align(conv_relu(mixed()), {"torch.compile": inductor("mixed")})["torch.compile"]
    assert found["code"].how == "by name" and len(found["code"].kernels) == 2
    assert found["code"].kernels[0] == "extern_kernels.convolution"


STEPS = re.compile(
    r"maximum|exp\(\)| \+ tmp0;| / |minimum|bmm|convolution|cpp_\w+|for\(int64_t x\d"
)


def steps(found: Found) -> list[str]:
    """The steps of an operation, and the loops around them, in the order of the text."""
    words = [m[0].strip("( ;") for line in found.lines.values() if (m := STEPS.search(line))]
    return [word.replace("for(int64_t ", "") for word in words]


def test_inductors_loops_hold_the_maximum_the_sum_and_the_quotient():
    """Which of them runs within which: the maximum and the exponentials of a row share the loops
    over rows, the sum and the quotient share another one."""
    code = align(attention(mixed()), {"": inductor("mixed")})[""]["code"]
    loops = [word for word in steps(code) if not word.startswith(("bmm", "cpp_"))]
    assert loops == ["x0", "x1", "x2", "maximum", "x2", "exp()", "x0", "x1", "+ tmp0", "x1", "/"]
    code = align(conv_relu(mixed()), {"": inductor("mixed")})[""]["code"]
    assert [word for word in steps(code) if word in ("x0", "x1", "maximum")] == [
        "x0", "x1", "maximum"]  # fmt: skip
    assert code.others == ("minimum",), "the upper end of ReLU6 is in the same loop"


def test_with_frozen_weights_the_convolution_has_batch_norm_and_relu_in_it():
    code = align(conv_relu(mixed()), {"": inductor("mixed", True)})[""]["code"]
    (line,), (kernel,) = code.lines.values(), code.kernels
    assert code.how == "by name" and kernel == "torch.ops.mkldnn._convolution_pointwise.default"
    assert "'hardtanh', [0, 6]" in line


@pytest.mark.parametrize("freezing", [False, True])
def test_inductors_graphs_and_loops_tell_an_input_from_a_weight(freezing):
    """Both are arguments of the program; what is added to the second convolution is an input. The
    part of a loop that is no whole vector repeats its body, and is not another operation."""
    operation = conv_relu(before())
    for stage, one in align(operation, {"": inductor("before", freezing)})[""].items():
        assert one or stage.startswith("ir"), (stage, one.how)
        if stage == "fx graph":
            text = "".join(one.lines.values())
            assert "conv1" in text and "norm2" in text and "conv2_" not in text
    code = align(operation, {"": inductor("before", freezing)})[""]["code"]
    assert "UNLIKELY" in inductor("before", freezing)["code"]
    ends = [line for line in code.lines.values() if "clamp_min(" in line or "'relu'" in line]
    assert len(ends) == 1 and len(code.kernels) == (1 if freezing else 2)


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
    given = before()
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
    given = twice()
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


def test_tinygrads_kernels_are_read_as_they_are_launched(missing):
    """A kernel's graph has no names. What its parameters are, the launch says."""
    if absent := lacking(PEERS["tinygrad"]):
        missing(absent)
    found = align(attention(mixed()), {"": dump("tinygrad")})[""]
    assert found["tensors"].how == found["schedule"].how == "by pattern"
    assert len(found["schedule"].kernels) == 4, "scores, maximum, sum, and all the rest"
    text = "".join(dump("tinygrad")[f"{name}: AST"] for name in found["schedule"].kernels)
    assert text.count("Ops.MAX") == 1 and text.count(".exp2()") == 2, (
        "the last one computes it anew"
    )
    (kernel,) = align(conv_relu(mixed()), {"": dump("tinygrad")})[""]["schedule"].kernels
    assert "Ops.MAX" in dump("tinygrad")[f"{kernel}: AST"]


@pytest.mark.parametrize("stage", ["tensors", "schedule"])
def test_tinygrads_places_are_told_apart_where_that_can_be(stage, missing):
    if absent := lacking(PEERS["tinygrad"]):
        missing(absent)
    stages = peer("tinygrad").prepare(before()).stages()
    found = align(conv_relu(before()), {"": stages})[""][stage]
    assert found.how == "by pattern" and len(found.lines) == (3 if stage == "tensors" else 1)
    stages = peer("tinygrad").prepare(twice()).stages()
    found = align(attention(twice()), {"": stages})[""][stage]
    assert not found and "in no certain order" in found.how


def test_a_softmax_of_no_product_is_no_attention():
    class Pooled(nn.Module):
        def forward(self, x, v):
            return torch.softmax(x, -1) @ v

    given = model_of(Pooled().eval(), [torch.randn(1, 4, 4).numpy() for _ in range(2)])
    with pytest.raises(ValueError, match="has 0 of softmax"):
        attention(given)


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


def test_table_and_slider_say_how_each_was_found():
    found = align(attention(mixed()), {s: dump(s) for s in ("course", "onnxruntime")})
    table, slider = f"{table_of(found)}", stepper_of(found)
    assert "onnx: by name" in table and "by the kernel's name" in table
    assert "onnxruntime: optimized" in slider.text and "computed by: " in slider.text


def test_the_texts_of_all_kernels_are_one_page():
    """Four for each kernel would be more pages than anybody looks through; and what stands far to
    the right in a file need not in a narrow window."""
    stages = {"schedule": "r_2(b1: 4 float, b2: 4 float)\n", "r_2: C": "a\n", "r_3: C": "b\n"}
    one = Found("by the kernel's name", {1: "    a", 2: "      b"}, ("r_2",))
    none = Found("not found: the text of a kernel that does not compute it")
    both = Found("by the kernel's name", {1: "    c"}, ("r_3",))
    of = attention(mixed())
    slider = stepper_of(Alignment(of, {"x": dict(zip(stages, (none, one, both), strict=True))}))
    assert slider.text.count("x: ") == 1
    shown = [line.split("  ", 1)[1] for line in slider.text.splitlines()[-6:] if line.strip()]
    assert shown == ["r_2:", "     1  a", "     2    b", "r_3:", "     1  c"]
    table = f"{table_of(Alignment(of, {'x': {'r_2: C': one, 'r_3: C': none}}))}"
    assert "kernels, C: by the kernel's name, 2 lines, in 1 piece" in table
