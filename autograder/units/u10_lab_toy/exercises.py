"""The lab of unit 10: `sum` in Toy, from a call in a program to a printed number; a pipeline.

The bodies are our answers and never ship. The exercises can be listed where xDSL is not installed,
and answered only where it is. Next room: lessons/u10_lab_toy/toy.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.builder import Builder
    from xdsl.dialects import affine, arith
    from xdsl.dialects.builtin import I64, FloatAttr, IndexType, IntegerAttr, ModuleOp, f64, i64
    from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
    from xdsl.irdl import (
        IRDLOperation,
        irdl_op_definition,
        operand_def,
        prop_def,
        result_def,
        traits_def,
    )
    from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
    from xdsl.rewriter import InsertPoint
    from xdsl.traits import Pure
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.toy import ast
    from course_lib.mlir.toy.affine import nest, to_affine
    from course_lib.mlir.toy.ast import Shape
    from course_lib.mlir.toy.canonical import canonicalize, open_structs, share
    from course_lib.mlir.toy.dialect import (
        TENSOR,
        UNRANKED,
        InfersShape,
        ReshapeOp,
        TransposeOp,
        shape_of,
        tensor,
    )
    from course_lib.mlir.toy.generate import generate
    from course_lib.mlir.toy.inline import inline
    from course_lib.mlir.toy.module import read, written
    from course_lib.mlir.toy.parser import parse
    from course_lib.mlir.toy.printing import to_cf, to_scf
    from course_lib.mlir.toy.shapes import infer_shapes
    from course_lib.mlir.toy.source import ToyError
    from course_lib.mlir.toy.stages import run, through


@cache
def _sum_op() -> Any:
    @irdl_op_definition
    class SumOp(IRDLOperation, InfersShape):
        name = "toy.sum"
        input = operand_def(TENSOR)
        axis = prop_def(IntegerAttr[I64])
        result = result_def(TENSOR)
        assembly_format = "$input `along` $axis `:` type($input) `to` type($result) attr-dict"
        traits = traits_def(Pure())

        def __init__(self, input: SSAValue, axis: int, result: Attribute = UNRANKED) -> None:
            values = {"axis": IntegerAttr(axis, i64)}
            super().__init__(operands=[input], properties=values, result_types=[result])

        def inferred(self, shapes: Sequence[Shape]) -> Shape:
            (shape,), axis = shapes, self.axis.value.data
            if not 0 <= axis < len(shape):
                raise VerifyException(f"{shape} has no axis {axis}")
            return (*shape[:axis], *shape[axis + 1 :])

    return SumOp


def _made(call: ast.Call, array: Callable[[ast.Expr], SSAValue]) -> Operation:
    if len(call.arguments) != 2:
        raise ToyError("sum takes an array and an axis", call.place)
    given, axis = call.arguments
    if not isinstance(axis, ast.Number) or axis.value != int(axis.value):
        raise ToyError("an axis is a whole number", axis.place)
    return _sum_op()(array(given), int(axis.value))


def _parsed(text: str) -> ModuleOp:
    if text.startswith("builtin.module"):
        return read(text, "program.mlir", [_sum_op()])
    return generate(parse(text), "program.toy", {"sum": _made})


def _patterns() -> list[RewritePattern]:
    class SumOfTranspose(RewritePattern):
        def match_and_rewrite(self, op: Any, rewriter: PatternRewriter) -> None:
            if isinstance(op, _sum_op()) and isinstance(op.input.owner, TransposeOp):
                shape = shape_of(op.input) or ()
                axis = len(shape) - 1 - op.axis.value.data
                made = tensor(op.inferred([shape])[::-1])
                done = [_sum_op()(op.input.owner.input, axis, made)]
                if len(shape) > 2:
                    done.append(TransposeOp(done[0].result, op.result.type))
                rewriter.replace(op, done)

    class SumOfOne(RewritePattern):
        def match_and_rewrite(self, op: Any, rewriter: PatternRewriter) -> None:
            if isinstance(op, _sum_op()):
                shape = shape_of(op.input) or ()
                if shape[op.axis.value.data] == 1:
                    rewriter.replace(op, ReshapeOp(op.input, op.result.type))

    return [SumOfTranspose(), SumOfOne()]


@exercise("u10_lab_toy.operation", unit=10, lab="toy", points=6, kind="budget")
def operation(text: str) -> str:
    """Give Toy the operation `toy.sum`, with its shapes and two patterns (chapters 1 to 4).

    text     a Toy program, or a module of the Toy dialect, which begins with `builtin.module`
    returns  the text of the module after `inline`, `open_structs`, `infer_shapes` and
             `canonicalize` with your patterns

    `sum(x, 1)` adds up the array x along axis 1, where axes are counted from 0. The axis is written
    in the program as a whole number, and becomes an attribute of the operation: the module says
    `toy.sum %0 along 1 : tensor<2x3xf64> to tensor<2xf64>`. The result has the shape of the operand
    without this axis. A sum that is not used disappears.

    Raise ToyError at the place of the call if it does not have two arguments, and at the place of
    the second argument if that is anything but a whole number. Also refuse an axis that the operand
    does not have, a stated shape of the result that does not follow from this rule, and an operand
    or a result that is not a TENSOR.

    This earns two thirds of the points, and two patterns earn the rest. No sum reads a transpose:
    it reads the array that was transposed, along another axis, even if the transpose has other
    users. Where the order of the remaining axes matters, the result is transposed instead. A result
    of one axis or none is not transposed. And no sum is left along an axis of one element: a
    `toy.reshape` takes its place.
    """
    passes = [inline, open_structs, infer_shapes, lambda module: canonicalize(module, _patterns())]
    return written(through(_parsed(text), passes))


def _loops(op: Any, builder: Builder, operands: Sequence[SSAValue], target: SSAValue) -> None:
    (source,), axis = operands, op.axis.value.data
    size = op.input.type.get_shape()[axis]
    zero = builder.insert(arith.ConstantOp(FloatAttr(0.0, f64))).result

    def one(outside: Builder, at: Sequence[SSAValue]) -> None:
        block = Block(arg_types=[IndexType(), f64])
        inside = Builder(InsertPoint.at_end(block))
        turn, total = block.args
        value = inside.insert(affine.LoadOp(source, [*at[:axis], turn, *at[axis:]])).result
        more = inside.insert(arith.AddfOp(total, value)).result
        inside.insert(affine.YieldOp.get(more))
        loop = affine.ForOp.from_region([], [], [zero], [f64], 0, size, Region(block))
        outside.insert(affine.StoreOp(outside.insert(loop).results[0], target, at))

    nest(builder, shape_of(op.result) or (), one)


@exercise("u10_lab_toy.compiled", unit=10, lab="toy", points=6, kind="budget")
def compiled(program: str) -> tuple[str, str]:
    """Compile a program with sums, through loops of your own, and run it (chapters 5 to 7).

    program  a Toy program
    returns  the text of the module after `to_affine`, with your loops in it, and what the program
             prints when it runs as machine code

    The loops compute the sum of any operand along any axis, also where the result is a single
    number. They load each element of the operand exactly once. They are loops: the text has as many
    operations for a large operand as for a small one. They need no memory but that of the operand
    and that of the result. The latter holds arbitrary numbers before it is written.

    The program may have functions, which are called with arrays of several shapes or with structs,
    and sums of the fields of a struct. A program in which the shapes of an operation do not fit is
    refused with ToyError, even if the result of that operation is not used.

    This earns two thirds of the points. All of them are for loops that load nothing but the operand
    and store each element of the result once: the sum so far is then a value that one iteration
    hands to the next, and is not in memory.
    """
    passes = [inline, open_structs, infer_shapes, lambda module: canonicalize(module, _patterns()),
              share, lambda module: to_affine(module, {_sum_op(): _loops})]  # fmt: skip
    module = through(_parsed(program), passes)
    loops = written(module)
    return loops, run(through(module, [to_scf, to_cf])).text


@exercise("u10_lab_toy.pipeline", unit=10, lab="toy", points=4, kind="inverse")
def pipeline() -> str:
    """Write the passes that bring relu(x @ w) from linalg on tensors to LLVM's dialect.

    returns  the passes of the table above in the order in which they run, separated by commas, each
             as often as you like, with options in braces where it needs some

    After the last pass, every operation is one of LLVM's dialect, but for the module itself. The
    function @main takes three arrays, x, w and the result, and a program in C can call it. It
    computes relu(x @ w) for all numbers. It frees all memory that it allocates, or allocates
    none. The same passes do this for other sizes, and for relu(x @ w + b) with a fourth array b.
    """
    return (
        "one-shot-bufferize{bufferize-function-boundaries "
        "function-boundary-type-conversion=identity-layout-map},"
        "buffer-results-to-out-params{modify-public-functions hoist-static-allocs},"
        "convert-linalg-to-loops,convert-scf-to-cf,convert-arith-to-llvm,finalize-memref-to-llvm,"
        "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
    )


@exercise("u10_lab_toy.levels", unit=10, lab="toy", points=3, kind="explain")
def levels() -> Rubric:
    """Conclude from your own tables. What is one word or one attribute in `toy.sum`, and what
    becomes of it in the loops and in LLVM IR? Which of your steps was possible only above a certain
    level, or much easier there, and what did it save, in numbers? In the pipeline, which pass must
    stand before which other one, and what went wrong, or would go wrong, in the other order?
    Write five to eight sentences.
    """
    return Rubric(
        criteria="1 point: the axis is an attribute; in the loops it is spread over bounds and the "
        "order of indices, in LLVM IR over blocks, products and sums of integers. 1 point: a step "
        "with its level, a reason and a number from the answer's own tables: the transpose goes "
        "while it is one operation (one nest, its loads and stores), or a sum is not in memory. "
        "1 point: two passes and a consequence that was seen or follows: buffers before loops, "
        "blocks before the conversions to LLVM's dialect, casts last; half if only named.",
        samples=(
            Sample(3, "The axis is one attribute: `along 1`. As loops it is the order of two "
                   "indices and which of two bounds belongs to the inner loop, and in LLVM IR it "
                   "is 3 * i + j, so I would have to prove that it is a sum of rows at all. My "
                   "pattern for the transpose needed the rank and one subtraction. It took one "
                   "nest of three away, 6 of 24 loads and 6 of 15 stores; on the loops I would "
                   "compare the stores of one nest with the loads of the next. In the pipeline I "
                   "had convert-arith-to-llvm before convert-scf-to-cf, and in the end 14 "
                   "operations of arith were left, because the blocks bring sums and comparisons "
                   "of their own."),
            Sample(1.5, "With each level there are more lines, and in the end one only sees "
                   "addresses, so the axis is hidden in the arithmetic. Transposes should be "
                   "removed early because it is easier. one-shot-bufferize has to come first; "
                   "otherwise the loops pass does nothing."),
            Sample(0, "The lower the level, the faster the program, so one should lower as early "
                   "as possible."),
        ),
    )  # fmt: skip
