"""mma.sync, ldmatrix, wmma and cp.async against numpy: where each number of a matrix belongs is
written here once more, lane by lane, from the tables of the PTX manual."""

import numpy as np
import pytest

from course_lib.gpu.ops import rounding
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import Empty, launch

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"
NUMPY = {"f16": "f2", "s8": "i1", "u8": "u1", "f32": "f4", "s32": "i4"}
RNG = np.random.default_rng(35)


def kernel(body: str, parameters: int, more: str = ""):
    names = ", ".join(f".param .u64 p{k}" for k in range(parameters))
    loads = "".join(f"ld.param.u64 %rd{k}, [p{k}];\n" for k in range(parameters))
    declared = ".reg .pred %p<4>; .reg .b32 %r<64>; .reg .f32 %f<32>; .reg .b64 %rd<32>;"
    return read(
        f"{HEAD}.visible .entry k({names}) {{ {declared}{more}\n{loads}{body}\nret; }}"
    ).entry()


def of_lane(parameter: int, registers: int) -> str:
    """%rd(10 + parameter): the registers of this lane in an array [lane][register]."""
    return f"""mov.u32 %r60, %laneid; mul.wide.u32 %rd20, %r60, {4 * registers};
               add.s64 %rd{10 + parameter}, %rd{parameter}, %rd20;\n"""


def words(numbers: np.ndarray, type: str) -> np.ndarray:
    """Numbers as the 32-bit registers that hold them, the first in the lowest bits."""
    if type == "bf16":
        numbers = rounding.bf16(numbers.astype(np.float32))
    elif type == "tf32":
        numbers = rounding.tf32(numbers.astype(np.float32))
    else:
        numbers = numbers.astype(
            {"f16": "f2", "s8": "i1", "u8": "u1", "f32": "f4", "s32": "i4"}[type]
        )
    return np.ascontiguousarray(numbers).view(np.uint32)


def spread(matrix: np.ndarray, count: int, each: int, at, type: str) -> np.ndarray:
    """The registers of all lanes, where `at` says what belongs to lane, register and place."""
    rows = [[matrix[at(lane, r, q)] for r in range(count) for q in range(each)]
            for lane in range(32)]  # fmt: skip
    return words(np.array(rows), type)


SHAPES = [
    # opcode, type of a and b, type of the sums, k, registers of a, b, c
    ("m16n8k16", "f16", "f32", 16, 4, 2, 4),
    ("m16n8k8", "f16", "f32", 8, 2, 1, 4),
    ("m16n8k16", "bf16", "f32", 16, 4, 2, 4),
    ("m16n8k8", "tf32", "f32", 8, 4, 2, 4),
    ("m16n8k4", "tf32", "f32", 4, 2, 1, 4),
    ("m16n8k32", "s8", "s32", 32, 4, 2, 4),
    ("m16n8k16", "s8", "s32", 16, 2, 1, 4),
    ("m16n8k32", "u8", "s32", 32, 4, 2, 4),
    ("m16n8k16", "f16", "f16", 16, 4, 2, 2),
]


@pytest.mark.parametrize(("shape", "type", "sums", "k", "na", "nb", "nc"), SHAPES)
def test_mma(shape, type, sums, k, na, nb, nc):
    whole = type in ("s8", "u8")
    low = 0 if type == "u8" else -8
    draw = lambda *size: RNG.integers(low, 8, size).astype(float)  # noqa: E731  exact in every type
    a, b, c = draw(16, k), draw(k, 8), draw(16, 8)
    p = {"f16": 2, "bf16": 2, "tf32": 1}.get(type, 4)
    at_a = lambda lane, r, q: (lane // 4 + 8 * (r % 2), lane % 4 * p + 4 * p * (r // 2) + q)  # noqa: E731
    at_b = lambda lane, r, q: (lane % 4 * p + 4 * p * r + q, lane // 4)  # noqa: E731
    pc = 2 if sums == "f16" else 1

    def at_c(lane, r, q):
        if sums == "f16":
            return lane // 4 + 8 * r, lane % 4 * 2 + q
        return lane // 4 + 8 * (r // 2), lane % 4 * 2 + r % 2

    registers = [spread(a, na, p, at_a, type), spread(b, nb, p, at_b, type),
                 spread(c, nc, pc, at_c, sums)]  # fmt: skip
    body = of_lane(0, na) + of_lane(1, nb) + of_lane(2, nc) + of_lane(3, nc)
    names, first = [], 1
    for n, count in enumerate((na, nb, nc)):
        mine = [f"%r{first + r}" for r in range(count)]
        body += "".join(f"ld.global.b32 {m}, [%rd{10 + n}+{4 * r}];" for r, m in enumerate(mine))
        names.append("{" + ", ".join(mine) + "}")
        first += count
    out = [f"%r{40 + r}" for r in range(nc)]
    target = "{" + ", ".join(out) + "}"
    body += f"mma.sync.aligned.{shape}.row.col.{sums}.{type}.{type}.{sums} {target}, "
    body += ", ".join(names) + ";"
    body += "".join(f"st.global.b32 [%rd13+{4 * r}], {o};" for r, o in enumerate(out))
    run = launch(kernel(body, 4), (1,), (32,), [*registers, Empty(32 * 4 * nc)])
    raw = run.arrays[3]
    assert raw is not None
    found = raw.view(NUMPY[sums]).reshape(32, nc * pc)
    got = np.zeros((16, 8))
    for lane in range(32):
        for r in range(nc):
            for q in range(pc):
                got[at_c(lane, r, q)] = found[lane, r * pc + q]
    np.testing.assert_array_equal(got, a @ b + c)
    assert whole or np.abs(got).max() < 2048


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count, transposed):
    halves = np.arange(count * 64, dtype=np.uint16)
    trans = ".trans" if transposed else ""
    out = ", ".join(f"%r{k}" for k in range(1, count + 1))
    body = f"""
        mov.u32 %r50, t; shl.b32 %r51, %r60, 4; add.s32 %r52, %r50, %r51;
        setp.lt.u32 %p1, %r60, {8 * count};
        cvt.u64.u32 %rd25, %r51; add.s64 %rd26, %rd0, %rd25;
        @%p1 cp.async.cg.shared.global [%r52], [%rd26], 16;
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{out}}}, [%r52];"""
    body += "".join(f"st.global.b32 [%rd11+{4 * k}], %r{k + 1};" for k in range(count))
    entry = kernel(of_lane(1, count) + body, 2, ".shared .align 16 .b8 t[512];")
    raw = launch(entry, (1,), (32,), [halves, Empty(128 * count)]).arrays[1]
    assert raw is not None
    got = raw.view(np.uint16).reshape(32, count, 2)
    for j, matrix in enumerate(halves.reshape(count, 8, 8)):
        matrix = matrix.T if transposed else matrix
        np.testing.assert_array_equal(got[:, j].reshape(8, 8), matrix)


def test_cp_async_fills_up_with_zeros():
    body = """mov.u32 %r1, t; mov.u32 %r2, 6;
        cp.async.cg.shared.global [%r1], [%rd0], 16, %r2;
        cp.async.wait_all;
        ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [t];
        st.global.v4.b32 [%rd1], {%r3, %r4, %r5, %r6};"""
    data = np.arange(1, 17, dtype=np.uint8)
    out = launch(kernel(body, 2, ".shared .align 16 .b8 t[16];"), (1,), (1,),
                 [data, Empty(16)]).arrays[1]  # fmt: skip
    assert out is not None and out.tolist() == [1, 2, 3, 4, 5, 6, *[0] * 10]


@pytest.mark.parametrize("layouts", ["row.row", "row.col", "col.row", "col.col"])
def test_wmma_of_every_layout(layouts):
    a, b = (RNG.integers(-8, 8, (16, 16)) for _ in range(2))
    of_a, of_b = layouts.split(".")
    given = [x.T if how == "col" else x for x, how in ((a, of_a), (b, of_b))]
    arrays = [np.ascontiguousarray(x.astype(np.float16)) for x in given]
    eight = ["{" + ", ".join(f"%{kind}{first + k}" for k in range(8)) + "}"
             for kind, first in (("r", 0), ("r", 8), ("f", 0), ("f", 8))]  # fmt: skip
    zero = "".join(f"mov.f32 %f{k}, 0f00000000;" for k in range(8))
    body = f"""mov.u32 %r50, 16; {zero}
        wmma.load.a.sync.aligned.{of_a}.m16n16k16.global.f16 {eight[0]}, [%rd0], %r50;
        wmma.load.b.sync.aligned.{of_b}.m16n16k16.global.f16 {eight[1]}, [%rd1], %r50;
        wmma.mma.sync.aligned.{layouts}.m16n16k16.f32.f32 {eight[3]}, {eight[0]}, {eight[1]},
            {eight[2]};
        wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2], {eight[3]}, %r50;"""
    out = launch(kernel(body, 3), (1,), (32,), [*arrays, Empty(1024)]).arrays[2]
    assert out is not None
    np.testing.assert_array_equal(out.view(np.float32).reshape(16, 16), a @ b)
