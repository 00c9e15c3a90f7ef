"""What the exercises of unit 11 work with: text in, a pass of xDSL's, text out.

    rewritten(text, pattern)      the pattern, wherever and as often as it applies
    checked(text, MaxOp)          a program with one more operation, verified
    fitted(text)                  products that fit on the chip, in one tile
    lifted(text, may)             every load as far up as `may` lets it
    fitting(buffer)               how many slots of this size its memory has room for

A program is in the NPU dialect, for the chip that its module names. Each function reads and
verifies it, and verifies what it made. Next room: meaning.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import lru_cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.dead_code_elimination import dce
from xdsl.utils.exceptions import VerifyException

from course_lib.mlir.npu import dialect, transfer
from course_lib.mlir.npu.dialect import ActivateOp, ClearOp, MatmulOp, ProductOp
from course_lib.mlir.npu.keep import overlap, place_of
from course_lib.mlir.npu.machine import chip_of, memory, room, slot_size, space_of, taken
from course_lib.mlir.npu.module import NpuError, functions, read, verify, written
from course_lib.mlir.npu.rules import memref, shape
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp
from course_lib.mlir.trouble import too_large

LONGEST = 400_000  # characters of a program
KEPT = 256  # modules


def parsed(text: str, *operations: type[Operation]) -> ModuleOp:
    """The module. NpuError, which is a ValueError, if the text is no module, is too large, has no
    function, or names an impossible chip, or if an operation in it is not valid."""
    return _parsed(text, *operations).clone()


@lru_cache(maxsize=KEPT)
def _parsed(text: str, *operations: type[Operation]) -> ModuleOp:
    """The same module for the same text: to be cloned, which is much faster than to be read."""
    if (refusal := too_large(text, LONGEST)) is not None:
        raise NpuError(refusal)
    module = verify(read(text, "program", *operations))
    body(module)
    try:
        chip_of(module)
    except VerifyException as error:
        raise NpuError(str(error)) from None
    return module


def finished(module: ModuleOp) -> str:
    """The text of a module after a pass: verified, and without slots that are not used. NpuError
    for a slot that is used and was not inserted."""
    for op in steps(module):
        if any(isinstance(v.owner, SlotOp) and v.owner.parent is None for v in op.operands):
            raise NpuError(f"an {op.name} uses an npu.slot that was not inserted into the function")
    dce(module)
    return written(verify(module))


def rewritten(text: str, pattern: RewritePattern) -> str:
    """The program after a pattern was applied until it applies nowhere."""
    module = parsed(text)
    PatternRewriteWalker(pattern).rewrite_module(module)
    return finished(module)


def checked(text: str, operation: type[Operation]) -> str:
    """A program that may contain `operation`, read, verified and printed. NpuError, which is a
    ValueError, if an operation is not valid."""
    return written(parsed(text, operation))


def body(module: ModuleOp) -> Block:
    """The block of the module's first function. NpuError if there is none."""
    for function in functions(module):
        return function.body.block
    raise NpuError("the module has no function")


def steps(module: ModuleOp) -> list[Operation]:
    """The operations of the function that do something, in order: no buffers, slots or return."""
    return [op for op in body(module).ops if not isinstance(op, (BufferOp, SlotOp, ReturnOp))]


def buffers(module: ModuleOp) -> list[BufferOp]:
    """The buffers of the function, in order."""
    return [op for op in body(module).ops if isinstance(op, BufferOp)]


def overwritten(op: Operation) -> SSAValue | None:
    """The tile whose contents an operation replaces without reading them; None if there is none."""
    match op:
        case DmaLoadOp():
            return op.tile
        case ClearOp():
            return op.sums
        case MatmulOp() if op.overwrite is not None:
            return op.sums
        case ActivateOp():
            return op.out
    return None


def fitting(buffer: BufferOp) -> int:
    """How many slots of this size its memory has room for, beside all other buffers in it."""
    chip, space, block = chip_of(buffer), space_of(buffer.result.type), buffer.parent
    assert block is not None
    full = sum(
        taken(chip, memref(op.result))
        for op in block.ops
        if isinstance(op, BufferOp) and op is not buffer and space_of(op.result.type) == space
    )
    return (room(chip, space) - full) // slot_size(chip, memref(buffer.result))


def resized(buffer: BufferOp, many: int) -> None:
    """Give a buffer this many slots. Its `result` stays the same value, so it may be compared or
    serve as a key before and after. (xDSL's Rewriter would put another value in its place.)"""
    kind = memory((many, *shape(buffer.result)[1:]), space_of(buffer.result.type))
    buffer.result._type = kind  # pyright: ignore[reportPrivateUsage]


def lifted(text: str, may: Callable[[DmaLoadOp, Operation], bool]) -> str:
    """Move every load up, in front of one operation after another, as long as `may(load, above)` is
    true. Loads stay in their order. Buffers and slots are moved to the beginning first."""
    module = parsed(text)
    block = body(module)
    views = [op for kind in (BufferOp, SlotOp) for op in block.ops if isinstance(op, kind)]
    for op in reversed(views):
        op.detach()
        if (first := block.first_op) is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, first)
    done = (BufferOp, SlotOp, DmaLoadOp)
    for op in steps(module):
        if not isinstance(op, DmaLoadOp):
            continue
        while (above := op.prev_op) is not None and not isinstance(above, done) and may(op, above):
            op.detach()
            block.insert_op_before(op, above)
    return finished(module)


def fitted(text: str) -> str:
    """Every product in one tile, if it fits on the chip."""

    class Fit(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: ProductOp, rewriter: PatternRewriter) -> None:
            (m, k), (_, n), cols = shape(op.x), shape(op.w), chip_of(op).cols
            xs = BufferOp(memory((1, m, k), "acts"))
            ws = BufferOp(memory((1, k, cols), "weights"))
            ys = BufferOp(memory((1, m, cols), "accs"))
            x, w = SlotOp(xs.result, [0], [m, k]), SlotOp(ws.result, [0], [k, n])
            y = SlotOp(ys.result, [0], [m, n])
            work = [
                DmaLoadOp(op.x, x.result, [0, 0], [m, k]),
                DmaLoadOp(op.w, w.result, [0, 0], [k, n]),
                MatmulOp(x.result, w.result, y.result, "os", overwrite=True),
                DmaStoreOp(op.y, y.result, [0, 0], [m, n]),
            ]
            rewriter.replace(op, [xs, ws, ys, x, w, y, *work], [])

    return rewritten(text, Fit())


def careless(text: str) -> str:
    """Move every load up, until the operation above it uses the slot into which it loads."""

    def may(load: DmaLoadOp, above: Operation) -> bool:
        tiles = [value for value in above.operands if isinstance(value.owner, SlotOp)]
        return not any(overlap(place_of(tile), place_of(load.tile)) for tile in tiles)

    return lifted(text, may)


def source(name: str) -> str:
    """A definition of the NPU dialect as it stands in the library, without its constructor; or a
    function of this file."""
    piece = getattr(dialect, name, None) or getattr(transfer, name, None) or globals()[name]
    text = inspect.getsource(piece).rstrip()
    return re.sub(r"\n    def __init__\(.*?(?=\n    (?:def|@)|\Z)", "", text, flags=re.DOTALL)
