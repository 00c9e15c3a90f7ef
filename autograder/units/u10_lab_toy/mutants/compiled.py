"""Answers that lower the operation, and order the passes. Next room: pipeline.py."""

from __future__ import annotations

from autograder.check.framework import alternatives, equivalent, mutants

ZERO, SIZE = "FloatAttr(0.0, f64)", "size = op.input.type.get_shape()[axis]"
INDICES = "[*at[:axis], turn, *at[axis:]]"
START, END = "def one(outside", "nest(builder, shape_of(op.result) or (), one)"
LOOP = "affine.ForOp.from_region([], [], [zero], [f64], 0, size, Region(block))"
TWO_NESTS = """nest(builder, shape_of(op.result) or (), lambda b, at: b.insert(
        affine.StoreOp(zero, target, at)))

    def add(b, at):
        left = [*at[:axis], *at[axis + 1:]]
        old, new = (b.insert(affine.LoadOp(m, i)).result for m, i in ((target, left), (source, at)))
        b.insert(affine.StoreOp(b.insert(arith.AddfOp(old, new)).result, target, left))
    nest(builder, shape_of(op.input) or (), add)"""
UNROLLED = """def unrolled(b, at):
        total = zero
        for turn in range(size):
            turn = b.insert(arith.ConstantOp(IntegerAttr(turn, IndexType()))).result
            value = b.insert(affine.LoadOp(source, [*at[:axis], turn, *at[axis:]])).result
            total = b.insert(arith.AddfOp(total, value)).result
        b.insert(affine.StoreOp(total, target, at))
    nest(builder, shape_of(op.result) or (), unrolled)"""
FRONT = "inline, open_structs, infer_shapes, lambda"
CANONICAL = "canonicalize(module, _patterns())"
RETURN = "return (loops, run(through(module, [to_scf, to_cf])).text)"

mutants(
    "u10_lab_toy.compiled",
    begins_with_one=(ZERO, "FloatAttr(1.0, f64)"),
    one_turn_too_few=(LOOP, LOOP.replace("0, size", "0, size - 1")),
    as_many_turns_as_the_result_has=(SIZE, "size = ((shape_of(op.result) or ()) + (1,))[0]"),
    always_the_first_axis=(INDICES, "[turn, *at]"),
    always_the_last_axis=(INDICES, "[*at, turn]"),
    the_last_element=("affine.YieldOp.get(more)", "affine.YieldOp.get(value)"),
    unrolled=(END, UNROLLED),
    not_set_to_zero=(END, TWO_NESTS[TWO_NESTS.index("def add") :]),
    no_structs=(FRONT, "inline, infer_shapes, lambda"),
    canonicalizes_before_shapes=(FRONT, "inline, open_structs, canonicalize, infer_shapes, lambda"),
    structs_after_shapes=(FRONT, "inline, infer_shapes, open_structs, lambda"),
    no_inlining=(FRONT, "open_structs, infer_shapes, lambda"),
    only_the_loops=(RETURN, "return (loops, '')"),
    in_another_order=(RETURN, "return (run(through(module, [to_scf, to_cf])).text, loops)"),
    blocks_in_place_of_loops=("loops = written(module)", "", RETURN,
                              "module = through(module, [to_scf, to_cf])\n"
                              "    return (written(module), run(module).text)"),
    sums_in_memory=(END, TWO_NESTS),
    memory_of_its_own=(SIZE, f"{SIZE}\n    from xdsl.dialects import memref\n"
                             "    builder.insert(memref.AllocOp([], [], target.type))"),
)  # fmt: skip
alternatives(
    "u10_lab_toy.compiled",
    by_insertion=(INDICES, "[turn if k == axis else at[k - (k > axis)] "
                           "for k in range(len(at) + 1)]"),
    sum_as_the_left_operand=("arith.AddfOp(total, value)", "arith.AddfOp(value, total)"),
    without_sharing=("share, ", ""),
    canonicalized_twice=(CANONICAL, f"{CANONICAL} or canonicalize(module)"),
    size_from_the_buffer=(SIZE, "size = source.type.get_shape()[axis]"),
)  # fmt: skip

for old, new in [("axis < len(shape)", "axis < len(shape)"), ("len(call.arguments) != 2", "pass"),
                 ("isinstance(axis, ast.Number)", "s"), ("raise ToyError(", "s"),
                 ("startswith('builtin", "s"), ("return read(", "pass"), ("return read(", "re"),
                 ("isinstance(op, _sum_op())", "pass"), ("len(shape) > 2", "p"),
                 ("rewriter.replace(op", "pass"), ("done[0].result", "done[-1].result"),
                 ("op.axis.value.data] == 1", "s"), ("[SumOfTranspose(), SumOfOne()]", "SumOf"),
                 ("shape = shape_of(op.input) or ()", "shape = shape_of(op.input)")]:  # fmt: skip
    equivalent("u10_lab_toy.compiled", old, new, because="u10_lab_toy.operation judges it")
for old, new in [("shape_of(op.result) or ()", "shape_of(op.result)"),
                 ("AddfOp(total, value)", "AddfOp(value, total)"), ("results[0]", "results[-1]"),
                 ("share, ", "_patterns())")]:  # fmt: skip
    equivalent("u10_lab_toy.compiled", old, new, because="it computes the same")
