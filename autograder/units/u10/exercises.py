"""Unit 10, MLIR: its exercises. The library has passes of the same kind, for other operations.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
The exercises can be listed where xDSL is not installed, and answered only where it is. Next room:
lessons/u10/samples.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.ir import Attribute, SSAValue
    from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
    from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
    from xdsl.traits import Pure
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.toy.ast import Shape
    from course_lib.mlir.toy.dialect import TENSOR, AddOp, InfersShape, MulOp, TransposeOp
    from course_lib.mlir.toy.functions import FuncOp
    from lessons.u10.dialect import filechecked, parsed, rewritten, with_shapes


def read_early(name: str, text: str, *_: object) -> None:
    """Read the program of a call before there is an answer: once for a class."""
    if name in ("u10.sunk", "u10.lowered"):
        parsed(text)


@exercise("u10.culprit", unit=10, points=2, kind="evidence")
def culprit() -> tuple[str, list[tuple[int, int]]]:
    """One of the passes above is wrong. Which one, and what does it break?

    returns  the name of the pass, as the pages show it, and the elements of the result that are
             wrong after it, as pairs (i, j), counted from 0, in any order

    The program computes a · b, element by element, before this pass but not after it. The numbers
    in a and b are such that nothing comes out right by chance.
    """
    return "affine-loop-fusion", [(1, 0), (2, 0), (2, 1)]


@exercise("u10.product", unit=10, points=3, kind="implement", further=True)
def product(m: int, k: int, n: int) -> str:
    """The text of a module that computes relu(xᵀ · w).

    m, k, n  x is a tensor<KxMxf32>, w a tensor<KxNxf32>, the result a tensor<MxNxf32>
    returns  the module. Its function @main takes x and w, and returns the result

    At most two `linalg.generic` do all the computing; `linalg.fill`, `tensor.empty` and constants
    may stand beside them, and their bodies use operations of `arith`. So x is never transposed: the
    product reads it in another order. Each iterator type says correctly whether its loop is a
    reduction. Negative numbers become 0, and NaN stays NaN.
    """
    a, b, c = f"tensor<{k}x{m}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    return f"""
    module {{
      func.func @main(%x: {a}, %w: {b}) -> {c} {{
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : {c}
        %zeros = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
        %p = linalg.generic {{
            indexing_maps = [affine_map<(i, j, q) -> (q, i)>, affine_map<(i, j, q) -> (q, j)>,
                             affine_map<(i, j, q) -> (i, j)>],
            iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%x, %w : {a}, {b}) outs(%zeros : {c}) {{
        ^bb0(%xe: f32, %we: f32, %sum: f32):
          %t = arith.mulf %xe, %we : f32
          %s = arith.addf %sum, %t : f32
          linalg.yield %s : f32
        }} -> {c}
        %r = linalg.generic {{
            indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}} ins(%p : {c}) outs(%empty : {c}) {{
        ^bb0(%v: f32, %old: f32):
          %y = arith.maximumf %v, %zero : f32
          linalg.yield %y : f32
        }} -> {c}
        return %r : {c}
      }}
    }}
    """


@exercise("u10.matmul", unit=10, points=3, kind="implement")
def matmul(text: str) -> str:
    """Give Toy an operation for the product of two matrices, and infer the shapes of a program.

    text     a program that may contain `toy.matmul`
    returns  with_shapes(text, MatmulOp), where MatmulOp is a class of yours

    `toy.matmul` has two operands and one result, each a TENSOR, and no effect: it may be removed if
    its result is not used. It is written like `toy.mul`. Its shape follows from those of its
    operands: an m×k matrix times a k×n matrix is an m×n matrix. Raise VerifyException if an operand
    is not a matrix or the two do not fit.
    """

    @irdl_op_definition
    class MatmulOp(IRDLOperation, InfersShape):
        name = "toy.matmul"
        lhs = operand_def(TENSOR)
        rhs = operand_def(TENSOR)
        result = result_def(TENSOR)
        assembly_format = (
            "$lhs `,` $rhs `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) attr-dict"
        )
        traits = traits_def(Pure())

        def inferred(self, shapes: Sequence[Shape]) -> Shape:
            left, right = shapes
            if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
                raise VerifyException(f"there is no product of {left} and {right}")
            return left[0], right[1]

    return with_shapes(text, MatmulOp)


@exercise("u10.sunk", unit=10, points=4, kind="implement")
def sunk(text: str) -> str:
    """Move transposes behind sums and products, where they can meet others and cancel.

    text     a program in the Toy dialect
    returns  rewritten(text, Sink()), where Sink is a pattern of yours

    An addition or a multiplication whose operands are both transposes moves before them, with its
    operands in the same order, and only its result is transposed. Rewrite only if neither transpose
    has another user. The program computes the same, and every shape that was known stays known. The
    new sum or product has a known shape if both of its operands have.
    """

    class Sink(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: AddOp | MulOp, rewriter: PatternRewriter) -> None:
            left, right = op.lhs.owner, op.rhs.owner
            if not isinstance(left, TransposeOp) or not isinstance(right, TransposeOp):
                return
            uses = [*left.result.uses, *right.result.uses]
            if all(use.operation is op for use in uses):
                done = type(op)(left.input, right.input, left.input.type)
                rewriter.replace(op, [done, TransposeOp(done.result, op.result.type)])

    return rewritten(text, Sink())


@exercise("u10.tested", unit=10, points=3, kind="implement")
def tested(text: str) -> bool:
    """Test whether the passes turned `twice` into what they should.

    text     a module that contains a public function @twice with two parameters of tensor<2x3xf64>
    returns  filechecked(text, directives) with directives of yours

    The test passes if @twice multiplies its first parameter by its second, in this order, returns
    the product, and does nothing else. It fails if @twice does anything else. It depends neither on
    the names of values nor on other functions, which may stand before or after @twice.
    """
    return filechecked(text, """
        CHECK-LABEL: toy.func @twice(
        CHECK-SAME: [[A:%[^ :,]+]]: tensor<2x3xf64>, [[B:%[^ :,]+]]: tensor<2x3xf64>)
        CHECK-NEXT: [[P:%[^ :,]+]] = toy.mul [[A]], [[B]] : (tensor<2x3xf64>,
        CHECK-NEXT: toy.return [[P]] : tensor<2x3xf64>
    """)  # fmt: skip


@exercise("u10.below", unit=10, points=2, kind="explain")
def below() -> Rubric:
    """A colleague wants to remove pairs of transposes in LLVM IR, where the code of every front end
    arrives. What is certain about a transpose in the Toy dialect that a pass would first have to
    prove at the level of loops? What is missing even for that proof in LLVM IR? Name one decision
    that belongs to a low level, and say why. Write three to six sentences.
    """
    return Rubric(
        criteria="0.5 points: in the dialect, a transpose is one operation without effects on "
        "values that are never overwritten, so that two in a row are the identity by definition. "
        "0.5 points: with loops one has to prove, from the indices of all accesses, that each "
        "element comes from where it went (dependences, and that nothing else reads or writes the "
        "memory in between). affine-loop-fusion is an example of getting this wrong. "
        "0.5 points: in LLVM IR there are addresses computed by arithmetic, branches in place of "
        "loops with bounds, and pointers that may alias; sizes and shapes are gone. (Scalar "
        "evolution and alias analysis recover a part of it, so `impossible` is too strong.) "
        "0.5 points: a decision that needs the machine (registers, order of instructions, width of "
        "vectors, layout of memory, addresses), with the reason: it is unknown above, differs "
        "between machines, or would hide the structure from other passes.",
        samples=(
            Sample(2, "A toy.transpose is a name: it has no effects, its operand is a value that "
                   "cannot change, and the rule transpose(transpose(x)) = x needs no analysis. "
                   "With loops, the pass has to compare the indices of the store and of the load "
                   "for all iterations and show that nothing writes the buffer in between, which "
                   "affine-loop-fusion forgot. In LLVM IR even the indices are gone: there are "
                   "sums and multiples of 64-bit numbers and pointers that may alias. Which "
                   "register holds a number should be decided only there, because it depends on "
                   "the processor and on everything else that is live at that point."),
            Sample(1, "In the dialect one sees the transposes, and in LLVM IR there are only loads "
                   "and stores, so one needs an analysis of all loops. Therefore such things "
                   "should be done early. The registers come late."),
            Sample(0, "LLVM has no instruction for a transpose, so it cannot remove it. It would "
                   "have to be added to LLVM first."),
        ),
    )  # fmt: skip


@exercise("u10.lowered", unit=10, points=4, kind="budget", further=True)
def lowered(text: str) -> str:
    """Lower a function of Toy to linalg on tensors, with as few operations as possible.

    text     a module with one function. It consists of one or more additions, multiplications and
             transposes of matrices, returns the result of one of them, and all shapes are known
    returns  the text of a module. Its function @main takes the same matrices and returns the same
             result

    In your module, only `linalg.generic` computes something, and each iterator type says correctly
    whether its loop is a reduction. One `linalg.generic` for each operation of Toy earns
    half of the points. One for each addition and multiplication earns three quarters: a transpose
    needs none, because its users can read its operand through another map, and a returned transpose
    can be written through one. One is enough for the whole function, since every element of the
    result depends on few elements of the parameters; that earns all points. The worst of several
    programs counts. If two users need element (i, j) of a value, it is computed once; element
    (j, i) is another one.
    """
    (function,) = (op for op in parsed(text).ops if isinstance(op, FuncOp))
    reads: dict[tuple[SSAValue, bool], str] = {}
    names: dict[tuple[SSAValue, bool], str] = {}
    lines: list[str] = []

    def element(value: SSAValue, turned: bool) -> str:
        """The name of element (i, j) of a value, or of element (j, i)."""
        op = value.owner
        if isinstance(op, TransposeOp):
            return element(op.input, not turned)
        if not isinstance(op, (AddOp, MulOp)):
            return reads.setdefault((value, turned), f"%x{len(reads)}")
        if (value, turned) not in names:
            kind = "addf" if isinstance(op, AddOp) else "mulf"
            a, b = element(op.lhs, turned), element(op.rhs, turned)
            names[value, turned] = name = f"%v{len(lines)}"
            lines.append(f"{name} = arith.{kind} {a}, {b} : f64")
        return names[value, turned]

    *_, last = function.block.ops
    (returned,) = last.operands
    lines.append(f"linalg.yield {element(returned, False)} : f64")
    return _one_generic(function.block.args, returned.type, reads, lines)


def _one_generic(
    parameters: Sequence[SSAValue],
    result: Attribute,
    reads: dict[tuple[SSAValue, bool], str],
    lines: list[str],
) -> str:
    """A module with a generic of these lines. `reads` names the elements that they read: of which
    parameter, and whether (j, i)."""
    given = {value: f"%p{k}" for k, value in enumerate(parameters)}
    inputs = [given[value] for value, _ in reads]
    types = [str(value.type) for value, _ in reads]
    maps = ["(j, i)" if turned else "(i, j)" for _, turned in reads] + ["(i, j)"]
    block = ", ".join(f"{name}: f64" for name in [*reads.values(), "%old"])
    return f"""
    module {{
      func.func @main({", ".join(f"{n}: {v.type}" for v, n in given.items())}) -> {result} {{
        %e = tensor.empty() : {result}
        %r = linalg.generic {{
            indexing_maps = [{", ".join(f"affine_map<(i, j) -> {map}>" for map in maps)}],
            iterator_types = ["parallel", "parallel"]}}
            ins({", ".join(inputs)} : {", ".join(types)}) outs(%e : {result}) {{
        ^bb0({block}):
          {" ".join(lines)}
        }} -> {result}
        return %r : {result}
      }}
    }}
    """
