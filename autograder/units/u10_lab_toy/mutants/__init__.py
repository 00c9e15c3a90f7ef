"""Answers to the lab: plausible mistakes that a check must catch, other right ones that pass.

Here: the operation and its patterns. Next room: compiled.py.
"""

from __future__ import annotations

from autograder.check.framework import alternatives, equivalent, mutants

RANGE, REST = "not 0 <= axis < len(shape)", "return (*shape[:axis], *shape[axis + 1:])"
NUMBER = "not isinstance(axis, ast.Number) or axis.value != int(axis.value)"
SHAPES = "infer_shapes, lambda"
OTHER_END, REVERSED = "axis = len(shape) - 1 - op.axis.value.data", "[::-1])"
RESTORED = "done.append(TransposeOp(done[0].result, op.result.type))"
INSIDE = "$input `along` $axis `:`"

mutants(
    "u10_lab_toy.operation",
    keeps_the_axis_with_one_element=(REST, "return (*shape[:axis], 1, *shape[axis + 1:])"),
    always_drops_the_last=(REST, "return shape[:-1]"),
    one_axis_too_many=(RANGE, "not 0 <= axis <= len(shape)"),
    negative_axes=(RANGE, "axis >= len(shape)"),
    another_error=("raise VerifyException", "raise IndexError"),
    any_axis_argument=(NUMBER, "False", "int(axis.value)", "int(getattr(axis, 'value', 0))"),
    rounds_the_axis=(NUMBER, "not isinstance(axis, ast.Number)"),
    an_optional_axis=("len(call.arguments) != 2", "len(call.arguments) not in (1, 2)",
                      "given, axis = call.arguments",
                      "given, axis = (*call.arguments, ast.Number(call.place, 0))[:2]"),
    every_error_at_the_call=("an axis is a whole number', axis.place",
                             "an axis is a whole number', call.place"),
    operand_of_any_type=("input = operand_def(TENSOR)", "input = operand_def()"),
    result_of_any_type=("result = result_def(TENSOR)", "result = result_def()"),
    in_another_form=(INSIDE, "$input `over` $axis `:`"),
    with_effects=("traits = traits_def(Pure())", ""),
    shapes_last=(f"inline, open_structs, {SHAPES}", "inline, open_structs, lambda"),
    canonicalizes_before_shapes=(SHAPES, f"canonicalize, {SHAPES}"),
    no_structs=(f"inline, open_structs, {SHAPES}", f"inline, {SHAPES}"),
    without_inlining=(f"inline, open_structs, {SHAPES}", f"open_structs, {SHAPES}"),
    the_same_axis_of_the_transpose=(OTHER_END, "axis = op.axis.value.data", REVERSED, "[:])"),
    forgets_the_order_of_the_others=(RESTORED, "pass", REVERSED, "[:])"),
    transposes_unless_sizes_are_equal=("len(shape) > 2", "len(set(op.inferred([shape]))) > 1"),
    transposes_every_result=("len(shape) > 2", "len(shape) > 0"),
    only_transposes_with_one_user=(
        "isinstance(op.input.owner, TransposeOp)",
        "isinstance(op.input.owner, TransposeOp) and len([*op.input.uses]) == 1"),
    no_pattern_for_transposes=("[SumOfTranspose(), SumOfOne()]", "[SumOfOne()]"),
    no_pattern_for_one_element=("[SumOfTranspose(), SumOfOne()]", "[SumOfTranspose()]"),
    one_along_any_axis=("shape[op.axis.value.data] == 1", "1 in shape"),
)  # fmt: skip
alternatives(
    "u10_lab_toy.operation",
    its_shape_by_a_loop=(REST, "return tuple(n for k, n in enumerate(shape) if k != axis)"),
    its_shape_as_a_list=(REST, "left = list(shape)\n            del left[axis]\n"
                               "            return left"),
    its_own_verifier_too=(
        "def inferred", "def verify_(self) -> None:\n            super().verify_()\n\n        "
                        "def inferred"),
    whole_by_remainder=(NUMBER, "type(axis) is not ast.Number or axis.value % 1"),
    shares_as_well=("_patterns())]", "_patterns()), share]"),
    canonicalizes_twice=(SHAPES, "infer_shapes, canonicalize, lambda"),
    one_element_first=("[SumOfTranspose(), SumOfOne()]", "[SumOfOne(), SumOfTranspose()]"),
)  # fmt: skip

equivalent("u10_lab_toy.operation", "shape_of(op.input) or ()", "shape_of(op.input)",
           because="all shapes are known when patterns are applied")  # fmt: skip
equivalent("u10_lab_toy.operation", "done[0].result", "done[-1].result",
           because="there is one element at that time")  # fmt: skip
equivalent("u10_lab_toy.operation", "[SumOfTranspose(), SumOfOne()]", "[SumOfOne(), SumOfT",
           because="the driver tries all patterns until none applies")  # fmt: skip
