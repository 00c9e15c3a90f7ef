"""Products of small matrices by a whole warp: ldmatrix, mma.sync, wmma.

Each lane holds a few elements of each matrix. With g = lane / 4 and t = lane % 4, and P numbers of
a register (two halves, four bytes, one tf32), register r of mma.m16n8 has

    A    row g + 8 (r % 2)     k = P t + 4 P (r / 2) + p
    B    column g              k = P t + 4 P r + p
    C    row g + 8 (r / 2)     column 2 t + r % 2

How wmma spreads its matrices is not specified by NVIDIA; here it is as for mma.m16n8k16, with
which the recorded requests agree: four of eight sectors for each matrix. Sums are in float64 and
rounded once; a card cuts digits of the smaller products off. Next room: `../count/lines.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.gpu.ops import rounding
from course_lib.gpu.ops.row import refuse
from course_lib.gpu.ptx.parts import Instruction, Operand
from course_lib.gpu.ptx.types import TYPES, Type
from course_lib.gpu.simt.access import address_of, parts_of, space_of
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.memory import SHARED
from course_lib.gpu.simt.steps import Read, Step, Variables, guard_of, reader, step, writer

WORD = TYPES["b32"]
LANE = np.arange(LANES)
G, T = LANE // 4, LANE % 4
SHAPES = {"m16n8k4": (16, 8, 4), "m16n8k8": (16, 8, 8), "m16n8k16": (16, 8, 16),
          "m16n8k32": (16, 8, 32)}  # fmt: skip
HALVES = ("f16", "bf16")


@step("ldmatrix")
def ldmatrix(i: Instruction, number: int, kernel: Variables) -> Step:
    """One, two or four 8 x 8 matrices of halves. Lanes 8 j to 8 j + 7 say where the rows of matrix
    j begin; lane l gets of each the elements 2 (l % 4) and the next one of row l / 4."""
    targets = parts_of(i.operands[0])
    count, transposed = len(targets), i.has("trans")
    locate, guard = address_of(i, i.operands[1], SHARED, kernel), guard_of(i)
    writes = [writer(t, guard, i) for t in targets]
    gives = (8 * count > LANE)[:, None]

    def run(frame: Frame) -> None:
        address = np.broadcast_to(locate(frame), frame.shape)
        lanes = frame.active(None if guard is None else guard(frame))
        takes = gives if lanes is None else gives & lanes
        takes = np.broadcast_to(takes, frame.shape)
        place = frame.wave.place(SHARED, frame, address, 16, takes, number, "load")
        halves = frame.wave.memory(SHARED).as_type(np.dtype("u2"))
        start = np.where(takes, place, 0) >> 1
        for j, write in enumerate(writes):
            rows = start[8 * j : 8 * j + 8]  # 8 x warps
            if transposed:
                low, high = (halves[rows[2 * T + k] + G[:, None]] for k in (0, 1))
            else:
                low, high = (halves[rows[G] + (2 * T + k)[:, None]] for k in (0, 1))
            write(frame, low.astype(np.uint32) | (high.astype(np.uint32) << np.uint32(16)))

    return run


@step("mma")
def mma(i: Instruction, number: int, kernel: Variables) -> Step:
    """D = A B + C."""
    name = i.one_of(*SHAPES)
    if not name or not (i.has("row") and i.has("col")) or i.guard is not None:
        raise refuse(i, f"the shapes are {', '.join(SHAPES)}")
    m, n, k = SHAPES[name]
    result, a, b, c = i.types
    fields = [parts_of(o) for o in i.operands]
    get_a = _matrix(fields[1], a, (m, k), _places_a(a, len(fields[1])), kernel, i)
    get_b = _matrix(fields[2], b, (n, k), _places_b(b, len(fields[2])), kernel, i)
    places = _places_c(result, len(fields[0]))
    get_c = _matrix(fields[3], c, (m, n), places, kernel, i)
    put = _spread(fields[0], result, places, i)

    def run(frame: Frame) -> None:
        total = product(get_a(frame), get_b(frame).transpose(0, 2, 1), get_c(frame))
        put(frame, total)

    return run


def product(a: Array, b: Array, c: Array) -> Array:
    """Of a batch of matrices: in whole numbers, or in float64."""
    return np.matmul(a, b) + c


# ── where the numbers of a matrix are: rows and columns by register, lane and place in it ──

Places = tuple[Array, Array]  # registers x lanes x numbers of a register


def _in_register(type: Type) -> int:
    return 32 // type.bits if type.name != "tf32" else 1


def _places_a(type: Type, count: int) -> Places:
    p, r, lane, at = _axes(type, count)
    row = G[lane] + 8 * (r % 2)
    return np.broadcast_arrays(row, p * T[lane] + 4 * p * (r // 2) + at)  # type: ignore[return-value]


def _places_b(type: Type, count: int) -> Places:
    p, r, lane, at = _axes(type, count)
    return np.broadcast_arrays(G[lane], p * T[lane] + 4 * p * r + at)  # type: ignore[return-value]


def _places_c(type: Type, count: int) -> Places:
    _, r, lane, at = _axes(type, count)
    if type.bits == 16:  # two columns in a register
        return np.broadcast_arrays(G[lane] + 8 * r, 2 * T[lane] + at)  # type: ignore[return-value]
    column = 2 * T[lane] + r % 2 + 8 * (r // 4)  # eight registers of wmma: two tiles
    return np.broadcast_arrays(G[lane] + 8 * (r // 2 % 2), column + 0 * at)  # type: ignore


def _axes(type: Type, count: int) -> tuple[int, Array, Array, Array]:
    p = _in_register(type)
    return p, np.arange(count)[:, None, None], LANE[None, :, None], np.arange(p)[None, None, :]


# ── from registers to matrices and back ──


def _matrix(registers: Sequence[Operand], type: Type, size: tuple[int, int], places: Places,
            kernel: Variables, i: Instruction) -> Callable[[Frame], Array]:  # fmt: skip
    """warps x rows x columns, in float64 or int64."""
    reads = [reader(r, WORD, kernel, i) for r in registers]
    rows, columns = places

    def get(frame: Frame) -> Array:
        words = np.stack([np.broadcast_to(read(frame), frame.shape) for read in reads])
        whole = type.kind in "su"
        found = np.zeros((frame.shape[1], *size), np.int64 if whole else np.float64)
        found[:, rows, columns] = _numbers(words, type).transpose(2, 0, 1, 3)
        return found

    return get


def _numbers(words: Array, type: Type) -> Array:
    """Registers x lanes x warps of bits  ->  the same x numbers of a register."""
    words = np.ascontiguousarray(words)
    if type.name == "tf32":
        return rounding.tf32(words.view(np.float32))[..., None]
    if type.name == "bf16":
        return rounding.of_bf16(words.view(np.uint16).reshape(*words.shape, 2))
    return words.view(type.numpy).reshape(*words.shape, -1)


def _spread(registers: Sequence[Operand], type: Type, places: Places, i: Instruction
            ) -> Callable[[Frame, Array], None]:  # fmt: skip
    writes = [writer(r, guard_of(i), i) for r in registers]
    rows, columns = places

    def put(frame: Frame, matrix: Array) -> None:
        found = matrix[:, rows, columns].transpose(1, 2, 0, 3)  # registers x lanes x warps x P
        numbers = np.ascontiguousarray(found.astype(type.numpy))
        words = numbers.view(np.uint32)[..., 0] if type.bits < 32 else numbers[..., 0]
        for write, word in zip(writes, words, strict=True):
            write(frame, np.ascontiguousarray(word))

    return put


# ── wmma ──


@step("wmma")
def wmma(i: Instruction, number: int, kernel: Variables) -> Step:
    if not i.has("m16n16k16"):
        raise refuse(i, "only m16n16k16")
    if i.has("mma"):
        return _wmma_product(i, kernel)
    return _wmma_access(i, number, kernel)


def _wmma_product(i: Instruction, kernel: Variables) -> Step:
    """Of 16 x 16 matrices in halves; the sums in f32 or f16."""
    result, c = i.types[0], i.types[-1]
    if any(t.name not in ("f32", "f16") for t in (result, c)):
        raise refuse(i, "only of f16, with sums in f32 or f16")
    fields = [parts_of(o) for o in i.operands]
    half = TYPES["f16"]
    get_a, get_b = (
        _matrix(f[:4], half, (16, 16), _places_a(half, 4), kernel, i) for f in fields[1:3]
    )
    places = _accumulator(result, len(fields[0]))
    get_c = _matrix(fields[3], c, (16, 16), _accumulator(c, len(fields[3])), kernel, i)
    put = _spread(fields[0], result, places, i)
    turned_a, turned_b = _layouts(i)

    def run(frame: Frame) -> None:
        a, b = get_a(frame), get_b(frame)
        a = a.transpose(0, 2, 1) if turned_a else a
        b = b.transpose(0, 2, 1) if turned_b else b
        put(frame, product(a, b, get_c(frame)))

    return run


def _layouts(i: Instruction) -> tuple[bool, bool]:
    a, b = (m for m in i.modifiers if m in ("row", "col"))
    return a == "col", b == "col"


def _accumulator(type: Type, count: int) -> Places:
    if type.bits == 32:
        return _places_c(type, count)
    return _places_a(type, count)


def _wmma_access(i: Instruction, number: int, kernel: Variables) -> Step:
    """Load or store a matrix whose rows (or columns) lie `stride` elements apart: register by
    register, as four requests of 32 or 64 bits for each lane. A matrix that is stored by columns
    is kept as it lies, and turned when it is multiplied."""
    stores, type, space = i.has("store"), i.types[-1], space_of(i)
    target, source, *more = i.operands
    registers = parts_of(source if stores else target)
    locate = address_of(i, target if stores else source, space, kernel)
    stride: Read = (reader(more[0], TYPES["s32"], kernel, i) if more
                    else lambda frame: np.full((1, 1), 16, np.int32))  # fmt: skip
    places = _accumulator(type, len(registers)) if type.bits == 32 else _places_a(type, 4)
    run = _store_matrix if stores else _load_matrix
    return run(i, number, kernel, registers, locate, stride, places)


def _requests(places: Places, type: Type) -> list[tuple[Array, Array, list[int]]]:
    """Rows and first columns of what each lane touches in one request, and which registers."""
    rows, columns = places
    if type.bits == 32:  # two neighbours of a row together
        return [(rows[r, :, 0], columns[r, :, 0], [r, r + 1]) for r in range(0, len(rows), 2)]
    return [(rows[r, :, 0], columns[r, :, 0], [r]) for r in range(len(rows))]


def _load_matrix(i: Instruction, number: int, kernel: Variables, registers: Sequence[Operand],
                 locate: Read, stride: Read, places: Places) -> Step:  # fmt: skip
    type, space = i.types[-1], space_of(i)
    writes = [writer(r, guard_of(i), i) for r in registers]
    turned = i.has("col") and type.bits == 32

    def run(frame: Frame) -> None:
        start, step_ = locate(frame), stride(frame).astype(np.int64)
        words = frame.wave.memory(space).as_type(np.dtype("u4"))
        for rows, columns, which in _requests(places, type):
            row, column = (columns, rows) if turned else (rows, columns)
            address = start + (row[:, None] * step_ + column[:, None]) * type.nbytes
            place = frame.wave.place(space, frame, address, 4 * len(which), frame.lanes, number,
                                     "load")  # fmt: skip
            index = place >> 2
            index = index if frame.lanes is None else np.where(frame.lanes, index, 0)
            for k, r in enumerate(which):
                value = words[index + k]
                writes[r](frame, value)
                if len(writes) == 8 and type.bits == 16:
                    writes[r + 4](frame, value)  # every half is there twice

    return run


def _store_matrix(i: Instruction, number: int, kernel: Variables, registers: Sequence[Operand],
                  locate: Read, stride: Read, places: Places) -> Step:  # fmt: skip
    type, space = i.types[-1], space_of(i)
    reads = [reader(r, WORD, kernel, i) for r in registers]

    def run(frame: Frame) -> None:
        start, step_ = locate(frame), stride(frame).astype(np.int64)
        memory = frame.wave.memory(space)
        words = memory.as_type(np.dtype("u4"))
        for rows, columns, which in _requests(places, type):
            address = start + (rows[:, None] * step_ + columns[:, None]) * type.nbytes
            address = np.broadcast_to(address, frame.shape)
            place = frame.wave.place(space, frame, address, 4 * len(which), frame.lanes, number,
                                     "store")  # fmt: skip
            takes = np.ones(frame.shape, bool) if frame.lanes is None else frame.lanes
            index = (place >> 2)[takes]
            for k, r in enumerate(which):
                words[index + k] = np.broadcast_to(reads[r](frame), frame.shape)[takes]
            memory.mark_written(index << 2, 4 * len(which))

    return run
