"""Twelve instructions: text, words and fields go there and back, and mean what numpy says."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import MOST, PRESETS, Chip
from course_lib.accelerator.isa.addresses import transfer
from course_lib.accelerator.isa.execute import Matmul, MatmulOs, Preload
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import ROWS, Halt
from course_lib.accelerator.isa.isa_interp import interpret
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.manual import manual
from course_lib.accelerator.isa.region import Region, packed
from course_lib.accelerator.isa.state import State
from course_lib.accelerator.isa.store import Act, St, Stacc, Vadd, Vmax
from course_lib.accelerator.isa.text import assemble, disassemble
from course_lib.accelerator.isa.word import WORD, decode, encode, layout
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph_interp import run as run_graph
from course_lib.ir.graph.node import apply

NPU, SMALL = PRESETS["npu"], PRESETS["teaching"]
VADD = Vadd(a=0, b=0, acts=0, size=1, sa=1.0, sb=1.0)
PLACES = {name: low for name, low, _ in layout(Vadd)}
NAN = int.from_bytes(encode([VADD]), "little") | 0x7FC00000 << PLACES["sa"]
NAMES = st.text("abcdefgh.0123456789", min_size=1, max_size=8)


@st.composite
def instructions(draw):
    cls = draw(st.sampled_from(ROWS))
    values = {
        f.name: draw(st.floats(width=32, allow_nan=False, allow_infinity=False))
        if f.real
        else draw(st.sampled_from((f.low, f.high)) | st.integers(f.low, f.high))
        for f in cls.fields
    }
    if "low" in values:
        values["low"], values["high"] = sorted((values["low"], values["high"]))
    others = st.sets(st.sampled_from([e for e in ENGINES if e != cls.engine]))
    origin = tuple(draw(st.lists(NAMES, max_size=2)))
    return cls(wait=tuple(draw(others)), signal=tuple(draw(others)), origin=origin, **values)


@given(st.lists(instructions(), max_size=4))
def test_words_and_text_come_back_as_they_went(program):
    assert decode(encode(program)) == program
    again = assemble(disassemble(program))
    assert again == program
    assert [i.origin for i in again] == [i.origin for i in program]


@pytest.mark.parametrize("cls", ROWS, ids=lambda cls: cls.name)
def test_each_instruction_fits_its_word_and_says_what_it_means(cls):
    places = layout(cls)
    assert places[-1][1] + places[-1][2] <= 8 * WORD
    assert cls.__doc__ and (cls is Halt or cls.run.__qualname__.startswith(cls.__name__))


def test_the_manual_has_a_row_for_each_instruction():
    text = str(manual())
    for cls in ROWS:
        assert cls.name in text
    assert "opcode 4, wait 3, signal 3, weights 24, k 12, n 12, pitch 16" in text
    assert "cells[k, n] = weights[k, n]" in text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("halt\nfoo x=1", ["line 2", "no instruction 'foo'"]),
        ("matmull acts=0", ["did you mean matmul?"]),
        ("preload weights=0 k=4 n=4", ["pitch missing", "line 1"]),
        ("preload weights=0 k=0 n=4 pitch=4", ["k is a whole number from 1 to 4,095, got 0"]),
        ("preload weights=zero k=4 n=4 pitch=4", ["weights=zero is no number"]),
        ("preload weights=0 k=4 n=4 pitch=4 k=4", ["k stands here twice"]),
        ("preload weights=0 k=4 n=4 pitch=4 wiat=load", ["did you mean wait?"]),
        ("preload weights=0 k=4 n=4 pitch=4 wait=execute", ["wait cannot be", "load, store"]),
        ("preload weights=0 k=4 n=4 pitch=4 wait=load,load", ["wait cannot be", "once: load"]),
        ("vadd a=0 b=0 acts=0 size=1 sb=1 sa=1e39", ["sa is a finite float32, got 1e+39"]),
        ("act accs=0 n=4 params=0 acts=0 h=1 w=1 step=4 line=4 low=-129", ["from -128 to 127"]),
        ("vadd a=0 b=0 acts=0 size=1 sa=1 sb=1 low=5 high=-5", ["low is at most high, got 5 and"]),
    ],
)
def test_a_wrong_text_is_told_by_line_and_field(text, parts):
    with pytest.raises(Fault) as caught:
        assemble(text)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bytes(31), "32 bytes, got 31"),
        (b"\x0f" + bytes(31), "begins with 15"),
        (b"\x0b" + bytes(30) + b"\x01", "a bit set behind its 10 bits"),
        (bytes(32), "rows is a whole number from 1"),
        (NAN.to_bytes(WORD, "little"), "sa is a finite float32, got nan"),
    ],
)
def test_bytes_that_are_no_program_are_refused(data, said):
    with pytest.raises(Fault, match=said):
        decode(data)


def test_fields_take_numpy_numbers_and_refuse_others():
    halves = dict(a=0, b=0, acts=0, size=np.int64(4), sb=1)
    made = Vadd(sa=0.1, **halves)
    assert type(made.size) is int and made.sa == struct.unpack("<f", struct.pack("<f", 0.1))[0]
    for wrong in ("x", float("inf"), 10**400):
        with pytest.raises(Fault, match="sa is a finite float32, got"):
            Vadd(sa=wrong, **halves)  # type: ignore[arg-type]
    with pytest.raises(Fault, match="size is a whole number"):
        replace(made, size=1.5)  # type: ignore[arg-type]
    with pytest.raises(Fault, match=r"vadd: low is at most high, got 6 and 5"):
        replace(made, low=6, high=5)


def test_tokens_and_origins_of_a_wrong_kind_are_told():
    for wrong in (5, "load", [5], ["load", "load"]):
        with pytest.raises(Fault, match="preload: wait cannot be"):
            Preload(weights=0, k=1, n=1, pitch=1, wait=wrong)  # type: ignore[arg-type]
    for wrong in ("conv1", ["conv1"], None):
        with pytest.raises(Fault, match="preload: origin is a tuple of names, got"):
            Preload(weights=0, k=1, n=1, pitch=1, origin=wrong)  # type: ignore[arg-type]
    assert Preload(weights=0, k=1, n=1, pitch=1, wait=["load"]).wait == ("load",)  # type: ignore[arg-type]


# ── meaning ──


def run(instructions, dram, chip=SMALL):
    return interpret([*instructions, Halt()], dram, chip)


def int8(rng, *shape):
    return rng.integers(-128, 128, shape, dtype=np.int8)


@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 4), st.integers(0, 1), st.integers(0))
def test_both_products_equal_numpy(k, m, n, add, seed):
    rng = np.random.default_rng(seed)
    a, b, a2 = int8(rng, m, k), int8(rng, k, n), int8(rng, min(m, 4), k)
    dram = np.concatenate([a.ravel(), b.ravel(), a2.ravel()])
    pixels = dict(w=1, step=k, line=k, k=k, n=n, accs=3)
    state = run([
        Lda(dram=0, acts=5, h=m, w=1, bytes=k, step=k, line=k),
        Ldw(dram=m * k, weights=7, rows=k, bytes=n, pitch=n),
        Preload(weights=7, k=k, n=n, pitch=n),
        Matmul(acts=5, h=m, **pixels),
        Lda(dram=m * k + k * n, acts=5, h=len(a2), w=1, bytes=k, step=k, line=k),
        MatmulOs(acts=5, h=len(a2), weights=7, pitch=n, add=add, **pixels),
    ], dram)  # fmt: skip
    want = a.astype(np.int32) @ b
    want[: len(a2)] = a2.astype(np.int32) @ b + add * want[: len(a2)]
    np.testing.assert_array_equal(state.memories["accs"].reshape(-1, 4)[3 : 3 + m, :n], want)


def test_a_convolution_with_padding_stride_and_three_channels_needs_no_copies():
    """3x3, stride 2, padding 1: three products, each over 9 bytes that lie side by side."""
    rng = np.random.default_rng(0)
    chip = replace(NPU, rows=16, cols=8, banks=(1, 1, 1))
    image, filters = int8(rng, 7, 6, 3), int8(rng, 8, 3, 3, 3)  # h w c; n kh kw c
    weights = np.ascontiguousarray(filters.reshape(8, 27).T)
    dram = np.concatenate([image.ravel(), weights.ravel(), np.zeros(400, np.int8)])
    pad = dict(top=1, bottom=1, left=1, right=1)
    program: list = [
        Lda(dram=0, acts=0, h=7, w=6, bytes=3, step=3, line=18, **pad),
        Ldw(dram=126, weights=0, rows=27, bytes=8, pitch=8),
    ]
    for y in range(3):
        program.append(Preload(weights=72 * y, k=9, n=8, pitch=8))
        where = dict(acts=24 * y, h=4, w=3, step=6, line=48)
        program.append(Matmul(k=9, n=8, accs=0, add=int(y > 0), **where))
    program.append(Stacc(accs=0, dram=400, rows=12, n=8, pitch=32))
    dram = np.concatenate([dram, np.zeros(400, np.int8)])
    run(program, dram, chip)
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0))).astype(np.int32)
    want = np.array([
        [np.tensordot(filters.astype(np.int32), padded[2*y : 2*y+3, 2*x : 2*x+3], 3)
         for x in range(3)] for y in range(4)
    ])  # fmt: skip
    np.testing.assert_array_equal(dram[400:784].view(np.int32).reshape(4, 3, 8), want)


def test_the_output_pipeline_equals_onnxruntime():
    """act against QLinearMatMul with zero points 0: the same rounding of the same products."""
    ort, helper = pytest.importorskip("onnxruntime"), pytest.importorskip("onnx.helper")
    rng = np.random.default_rng(1)
    a, b = int8(rng, 64, 32), int8(rng, 32, 32)
    sa, sb = np.float32(0.013), np.float32(0.0071)
    sy = rng.uniform(0.02, 0.2, 32).astype(np.float32)
    chip = NPU
    for n in range(0, 32, 8):  # one output scale at a time, as QLinearMatMul has one
        scale = sa * sb / sy[n]
        want = _qlinear(ort, helper, a, b, sa, sb, sy[n])
        params = np.concatenate([np.zeros(32, "<f4"), np.full(32, scale, "<f4")])
        dram = np.concatenate([a.ravel(), b.ravel(), params.view(np.int8), np.zeros(2048, np.int8)])
        image = dict(h=64, w=1, step=32, line=32)
        run([
            Lda(dram=0, acts=0, bytes=32, **image),
            Ldw(dram=2048, weights=0, rows=32, bytes=32, pitch=32),
            Ldb(dram=3072, params=1, count=1),
            Preload(weights=0, k=32, n=32, pitch=32),
            Matmul(acts=0, k=32, n=32, accs=0, **image),
            Act(accs=0, n=32, params=1, acts=4096, **image),
            St(acts=4096, dram=3328, bytes=32, **image),
        ], dram, chip)  # fmt: skip
        np.testing.assert_array_equal(dram[3328:].reshape(64, 32), want)


def _qlinear(ort, helper, a, b, sa, sb, sy):
    names = ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"]
    zero = np.int8(0)
    values = dict(zip(names, (a, sa, zero, b, sb, zero, sy, zero), strict=True))
    kinds = [1 if np.asarray(v).dtype == np.float32 else 3 for v in values.values()]
    inputs = [
        helper.make_tensor_value_info(name, kind, np.shape(values[name]))
        for name, kind in zip(names, kinds, strict=True)
    ]
    output = helper.make_tensor_value_info("y", 3, [64, 32])
    node = helper.make_node("QLinearMatMul", names, ["y"])
    graph = helper.make_graph([node], "q", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {k: np.asarray(v) for k, v in values.items()})[0]


@given(st.integers(0))
def test_act_rounds_half_to_even_saturates_and_clamps(seed):
    rng = np.random.default_rng(seed)
    x, eye = int8(rng, 9, 4), np.eye(4, dtype=np.int8)
    bias = rng.integers(-300, 300, 4).astype("<i4")
    scale = np.array([0.5, 0.25, 1.0, 1.5], "<f4")
    low, high = sorted(rng.integers(-128, 128, 2).tolist())
    params = np.concatenate([bias, scale.view("<i4")]).view(np.int8)
    dram = np.concatenate([x.ravel(), eye.ravel(), params])
    tile = dict(h=3, w=3, step=4, line=12)
    state = run([
        Lda(dram=0, acts=0, bytes=4, **tile),
        Ldw(dram=36, weights=0, rows=4, bytes=4, pitch=4),
        Ldb(dram=52, params=2, count=1),
        Preload(weights=0, k=4, n=4, pitch=4),
        Matmul(acts=0, k=4, n=4, accs=0, **tile),
        Act(accs=0, n=4, params=2, acts=100, h=3, w=3, step=8, line=24, low=low, high=high),
    ], dram)  # fmt: skip
    exact = (x.astype(np.int64) + bias) * scale.astype(np.float64)
    halves = np.floor(exact) + (
        (exact % 1 > 0.5) | ((exact % 1 == 0.5) & (np.floor(exact) % 2 == 1))
    )
    got = state.memories["acts"][100:172].reshape(9, 8)[:, :4]
    np.testing.assert_array_equal(got, np.clip(np.clip(halves, -128, 127), low, high))


BYTES = st.integers(-128, 127)
SCALES = st.floats(2**-12, 2, width=32)


def value_in_ir(op, arrays, **attrs):
    """What the op table says that an op computes."""
    kinds = {"int8": "i8", "int32": "i32", "float32": "f32"}
    types = [f"{kinds[str(a.dtype)]}[{','.join(map(str, a.shape))}]" for a in arrays]
    return run_graph(trace(lambda *x: apply(op, *x, **attrs), *types), arrays)[0]


@given(st.integers(0), SCALES, SCALES, BYTES, BYTES)
def test_act_and_vadd_mean_what_requantize_and_add_quantized_mean(seed, sa, sb, one, other):
    """Bit by bit, with sums of all sizes; so a graph of integers says what the chip has to do."""
    rng, chip = np.random.default_rng(seed), SMALL
    low, high = min(one, other), max(one, other)
    total = rng.integers(-(2**31), 2**31, (8, 4)) >> rng.integers(0, 31, (8, 4))
    scale = np.array([sa, sb, sa * sb, 1], np.float32)
    state = State(chip, np.zeros(1, np.int8))
    state.memories["accs"][:32] = total.ravel()
    state.memories["params"][:8] = [0, 0, 0, 0, *scale.view(np.int32)]
    limits = dict(low=low, high=high)
    Act(accs=0, n=4, params=0, acts=0, h=1, w=8, step=4, line=0, **limits).run(state)
    a = state.memories["acts"][:32].reshape(8, 4).copy()
    sums = total.astype(np.int32)
    want = value_in_ir("requantize", [sums, scale], axis=1, **limits)
    np.testing.assert_array_equal(a, want)
    b = int8(rng, 8, 4)
    state.memories["acts"][100:132] = b.ravel()
    Vadd(a=0, b=100, acts=200, size=32, sa=sa, sb=sb, **limits).run(state)
    pair = [np.float32(sa), np.float32(sb)]
    want = value_in_ir("add_quantized", [a, b, *pair], **limits)
    np.testing.assert_array_equal(state.memories["acts"][200:232].reshape(8, 4), want)


def test_residual_sum_and_max_pool_equal_numpy():
    rng = np.random.default_rng(2)
    image = int8(rng, 6, 8, 4)
    dram = np.concatenate([image.ravel(), np.zeros(64, np.int8)])
    state = run([
        Lda(dram=0, acts=0, h=6, w=8, bytes=4, step=4, line=32),
        Vmax(src=0, acts=200, h=2, w=3, bytes=4, step=8, line=64, kh=3, kw=3, kline=32),
        Vadd(a=0, b=4, acts=300, size=60, sa=0.5, sb=0.75, low=0),
        St(acts=200, dram=192, h=2, w=3, bytes=4, step=8, line=24),
    ], dram)  # fmt: skip
    want = np.array([[image[2*y : 2*y+3, 2*x : 2*x+3].max((0, 1)) for x in range(3)]
                     for y in range(2)])  # fmt: skip
    np.testing.assert_array_equal(dram[192:240].reshape(2, 3, 8)[:, :, :4], want)
    flat = image.ravel().astype(np.float32)
    summed = np.clip(np.rint(flat[:60] * 0.5 + flat[4:64] * 0.75), 0, 127)
    np.testing.assert_array_equal(state.memories["acts"][300:360], summed)


def test_sums_wrap_at_32_bits_and_are_counted():
    chip = replace(SMALL, rows=1, cols=1, weights=65536, acts=65536, banks=(1, 1, 1))
    k = 65535
    dram = np.full(k, -128, np.int8)
    big = dict(acts=0, h=1, w=1, step=1, line=1, k=k, n=1, weights=0, pitch=1, accs=0)
    load = [
        Lda(dram=0, acts=0, h=1, w=1, bytes=k, step=1, line=1),
        Ldw(dram=0, weights=0, rows=k, bytes=1, pitch=1),
    ]
    state = run(
        [*load, MatmulOs(**big), MatmulOs(**big, add=1), MatmulOs(**big, add=1)], dram, chip
    )
    exact = 3 * k * 128 * 128
    assert state.memories["accs"][0] == np.int64(exact).astype(np.int32) != exact
    assert state.overflows == 1


def test_a_sum_that_wraps_with_its_bias_is_counted_too():
    """The largest bias and a sum of 1: the result is the most negative, not 127."""
    dram = np.array([2**31 - 1, 1, 1, 1, *[0x3F800000] * 4], "<i4").view(np.int8)
    ones = [Lda(dram=4, acts=0, h=1, w=1, bytes=1, step=1, line=1),
            Ldw(dram=4, weights=0, rows=1, bytes=1, pitch=1), Ldb(dram=0, params=0, count=1),
            Preload(weights=0, k=1, n=1, pitch=1)]  # fmt: skip
    pixel = dict(acts=0, h=1, w=1, step=1, line=1)
    product, act = Matmul(**pixel, k=1, n=1, accs=0), Act(**pixel, accs=0, n=1, params=0)
    state = run([*ones, product, act], dram)
    assert state.memories["acts"][0] == -128 and state.overflows == 1


OUTSIDE = "out of bounds"
LDA = "lda h=1 w=1 bytes=64 step=64 line=64"
PIXEL = "h=1 w=1 step=4 line=4 k=4 n=4 accs=0 acts=0"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (f"{LDA} dram=0 acts=1000", OUTSIDE, "acts holds 1,024 bytes, but bytes 1,000 to 1,063"),
        (f"{LDA} dram=90 acts=0", OUTSIDE, "dram holds 100 bytes, but bytes 90 to 153"),
        ("ldb dram=0 params=16 count=1", OUTSIDE, "params holds 128 words, but words 128 to 135"),
        (f"matmul {PIXEL}", "array", "no weights in the cells"),
        ("preload weights=0 k=5 n=4 pitch=4", "array", "k is 5, but the array has 4 x 4"),
        (f"matmul_os weights=0 pitch=4 {PIXEL}".replace("h=1", "h=5"), "array", "m is 5"),
    ],
)
def test_what_does_not_fit_the_chip_is_told_with_its_origin(text, kind, said):
    program = assemble(f"{text}  ; layer1.conv\nhalt")
    with pytest.raises(Fault) as caught:
        interpret(program, np.zeros(100, np.int8), SMALL)
    assert caught.value.kind == kind
    for part in (said, "instruction 0", "from: layer1.conv", "look at:"):
        assert part in str(caught.value)


def test_a_program_ends_with_halt_once():
    for text in ("", "halt\nhalt", "halt\npreload weights=0 k=1 n=1 pitch=1"):
        with pytest.raises(Fault, match="halt is the last"):
            interpret(assemble(text), np.zeros(4, np.int8), SMALL)


# ── addresses and clocks ──


def test_what_lies_side_by_side_is_one_burst():
    chip = replace(SMALL, dma_bytes=16, dma_latency=7)
    assert transfer(chip, packed("dram", 0, 4, 5, 6)) == (8, 7)  # 120 bytes
    assert transfer(chip, Region("dram", 0, (4, 5, 6), (100, 6, 1))) == (8, 7)  # 4 x 30 bytes
    assert transfer(chip, Region("dram", 0, (4, 5, 6), (100, 8, 1))) == (20, 7)  # 20 x 6 bytes
    assert transfer(chip, Region("dram", 0, (4, 1, 30), (30, 99, 1))) == (8, 7)


def test_a_chip_says_every_number_and_refuses_nonsense():
    text = str(NPU)
    for number in ("32×32", "131,072 B in 4", "65,536 B in 8", "1,024 rows", "16 B a clock", "100"):
        assert number in text
    for wrong in (
        {"rows": 0},
        {"banks": (3, 1, 1)},
        {"ghz": 0},
        {"banks": (0, 1, 1)},
        {"accs": 6, "banks": (1, 1, 4)},
        {"cols": 4096},
        {"accs": 1 << 17},
    ):
        with pytest.raises(ValueError, match="npu"):
            replace(NPU, **wrong)
    with pytest.raises(ValueError, match="acts is a whole number"):
        replace(NPU, acts=1.5)
    assert Chip().macs == 1024


def test_what_a_chip_may_hold_is_what_fields_can_say():
    for instruction, field, name in (
        (Preload, "k", "rows"), (Preload, "n", "cols"), (Preload, "weights", "weights"),
        (Matmul, "acts", "acts"), (Matmul, "accs", "accs"), (Act, "params", "params"),
    ):  # fmt: skip
        (found,) = (f for f in instruction.fields if f.name == field)
        assert MOST[name] == found.high + (found.least == 0)
        with pytest.raises(ValueError, match=f"{name} is at most {MOST[name]:,}, what its field"):
            Chip(**{name: MOST[name] + 1})  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_what_is_not_a_number_becomes_the_least():
    entry = np.zeros((2, 4), "<i4")
    entry[1] = np.array([np.nan, np.inf, -np.inf, 1], "<f4").view("<i4")
    program = [Ldb(dram=0, params=0, count=1),
               Act(accs=0, n=4, params=0, acts=0, h=1, w=1, step=4, line=4, low=-7)]  # fmt: skip
    state = run(program, entry.view(np.int8).ravel())
    assert state.memories["acts"][:4].tolist() == [-7, -7, -7, 0]
    sums = np.zeros((1, 4), np.int32)
    asked = value_in_ir("requantize", [sums, entry[1].view("<f4")], low=-7)
    assert asked.ravel().tolist() == [-7, -7, -7, 0]
    for kind in ("i8", "u8", "i16"):
        (steps,) = run_graph(
            trace(lambda x, s, k=kind: apply("quantize", x, s, dtype=k), "f32[2]", "f32[]"),
            [np.array([np.nan, 3], np.float32), np.float32(1)],
        )
        assert steps.tolist() == [np.iinfo(steps.dtype).min, 3]
