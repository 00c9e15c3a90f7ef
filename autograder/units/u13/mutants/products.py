"""Wrong and right products of a block: misunderstandings about runs, weights and sums."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, alternatives, mutants
from course_lib.accelerator.isa.execute import Matmul, Preload

_NEXT = "(weights + k * n, 1)"
_FIRST = "(first.add, first.n)"

mutants(
    "chip.products",
    every_piece_overwrites=(_NEXT, "(weights + k * n, add)"),
    the_first_piece_always_overwrites=(_FIRST, "(0, first.n)"),
    every_piece_adds=(_FIRST, "(1, first.n)"),
    every_run_begins_anew=("        for at, end", "        add = first.add\n        for at, end"),
    forgets_the_offset=("offset + at", "at"),
    every_piece_begins_where_its_run_does=("offset + at", "offset"),
    forgets_where_the_patch_lies=("first.acts + offset", "offset"),
    every_run_has_the_same_weights=("weights, add = (weights + k * n, 1)", "add = 1",
                                    "weights=weights", "weights=weights + at * n"),
    weights_follow_by_rows_not_bytes=(_NEXT, "(weights + k, 1)"),
    the_last_piece_is_as_long_as_the_others=("k = end - at", "k = rows"),
    one_preload_for_a_run=("program.append(Preload", "at or program.append(Preload"),
    one_byte_at_a_time=("spans(length, rows)", "spans(length, 1)"),
    the_matmul_before_its_weights=(
        "return program", "return [program[k ^ 1] for k in range(len(program))]"),
    a_pitch_of_the_array=("pitch=n", "pitch=max(rows, n)"),
    nobody_knows_where_it_comes_from=(", origin=first.origin", ""),
    # Arrays have few rows, it thinks.
    sixty_four_rows_at_most=("spans(length, rows)", "spans(length, min(rows, 64))"),
    a_thousand_rows_at_most=("spans(length, rows)", "spans(length, min(rows, 1000))"),
    eight_runs_at_most=("in runs:", "in runs[:8]:"),
)  # fmt: skip

# A run of 60 bytes on 32 rows: 30 and 30.
alternatives("chip.products", pieces_of_equal_length=(
    "spans(length, rows)", "spans(length, -(-length // -(-length // rows)))"))  # fmt: skip


def _preload(weights, k, first):
    n = first.n
    return Preload(weights=weights, k=k, n=n, pitch=n, origin=first.origin)


@alternative("chip.products")
def with_a_list_of_pieces(runs, weights, first, rows):
    pieces = [(offset + at, min(rows, length - at))
              for offset, length in runs for at in range(0, length, rows)]  # fmt: skip
    instructions = []
    for number, (offset, k) in enumerate(pieces):
        before = sum(size for _, size in pieces[:number])
        matmul = Matmul(
            acts=first.acts + offset, h=first.h, w=first.w, step=first.step, line=first.line, k=k,
            n=first.n, accs=first.accs, add=1 if number else first.add, origin=first.origin,
        )  # fmt: skip
        instructions += [_preload(weights + before * first.n, k, first), matmul]
    return instructions


@alternative("chip.products")
def until_a_run_is_empty(runs, weights, first, rows):
    instructions = []
    for offset, left in runs:
        while left > 0:
            k = min(rows, left)
            add = first.add if not instructions else 1
            instructions.append(_preload(weights, k, first))
            instructions.append(replace(first, acts=first.acts + offset, k=k, add=add))
            offset, left, weights = offset + k, left - k, weights + k * first.n
    return instructions


@alternative("chip.products")
def one_run_after_the_other(runs, weights, first, rows):
    if not runs:
        return ()
    (offset, length), *others = runs
    k = min(rows, length)
    rest = [(offset + k, length - k), *others] if length > k else others
    pair = (_preload(weights, k, first), replace(first, acts=first.acts + offset, k=k))
    after = weights + k * first.n
    return (*pair, *one_run_after_the_other(rest, after, replace(first, add=1), rows))
