"""Wrong and right products of a block: what somebody believes about runs, weights and sums."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, mutant
from course_lib.accelerator.compile.walk import spans
from course_lib.accelerator.isa.execute import Matmul, Preload


def _preload(weights, k, first):
    n = first.n
    return Preload(weights=weights, k=k, n=n, pitch=n, origin=first.origin)


def _products(runs, weights, first, rows, *, add=None, last=1, at=None, pitch=None):
    """Right, unless something is given."""
    made, begun = [], first.add
    for offset, length in runs:
        for low, high in spans(length, rows):
            k = high - low
            one = _preload(weights, k, first)
            made.append(one if pitch is None else replace(one, pitch=pitch))
            here = first.acts + offset + low if at is None else at(first, offset, low)
            made.append(replace(first, acts=here, k=k, add=begun if add is None else add))
            weights, begun = weights + k * first.n, last
    return made


@mutant("chip.products")
def every_piece_overwrites(runs, weights, first, rows):
    return _products(runs, weights, first, rows, add=first.add)


@mutant("chip.products")
def the_first_piece_always_overwrites(runs, weights, first, rows):
    return _products(runs, weights, replace(first, add=0), rows)


@mutant("chip.products")
def every_piece_adds(runs, weights, first, rows):
    return _products(runs, weights, first, rows, add=1)


@mutant("chip.products")
def every_run_begins_anew(runs, weights, first, rows):
    made = []
    for offset, length in runs:
        made += _products([(offset, length)], weights, first, rows)
        weights += length * first.n
    return made


@mutant("chip.products")
def forgets_the_offset(runs, weights, first, rows):
    return _products(runs, weights, first, rows, at=lambda first, offset, low: first.acts + low)


@mutant("chip.products")
def every_piece_begins_where_its_run_does(runs, weights, first, rows):
    return _products(runs, weights, first, rows, at=lambda first, offset, low: first.acts + offset)


@mutant("chip.products")
def forgets_where_the_patch_lies(runs, weights, first, rows):
    return _products(runs, weights, first, rows, at=lambda first, offset, low: offset + low)


@mutant("chip.products")
def every_run_has_the_same_weights(runs, weights, first, rows):
    made = []
    for number, run in enumerate(runs):
        made += _products([run], weights, replace(first, add=1 if number else first.add), rows)
    return made


@mutant("chip.products")
def weights_follow_by_rows_not_bytes(runs, weights, first, rows):
    made, add = [], first.add
    for offset, length in runs:
        for low, high in spans(length, rows):
            made += [
                _preload(weights, high - low, first),
                replace(first, acts=first.acts + offset + low, k=high - low, add=add),
            ]
            weights, add = weights + high - low, 1
    return made


@mutant("chip.products")
def the_last_piece_is_as_long_as_the_others(runs, weights, first, rows):
    return _products([(o, -(-n // rows) * rows) for o, n in runs], weights, first, rows)


@mutant("chip.products")
def one_preload_for_a_run(runs, weights, first, rows):
    made = _products(runs, weights, first, rows)
    at = {o + first.acts for o, _ in runs}
    return [i for n, i in enumerate(made) if isinstance(i, Matmul) or made[n + 1].acts in at]


@mutant("chip.products")
def one_byte_at_a_time(runs, weights, first, rows):
    return _products(runs, weights, first, 1)


@mutant("chip.products")
def the_matmul_before_its_weights(runs, weights, first, rows):
    made = _products(runs, weights, first, rows)
    return [i for preload, matmul in zip(made[::2], made[1::2], strict=True)
            for i in (matmul, preload)]  # fmt: skip


@mutant("chip.products")
def a_pitch_of_the_array(runs, weights, first, rows):
    return _products(runs, weights, first, rows, pitch=max(rows, first.n))


@mutant("chip.products")
def nobody_knows_where_it_comes_from(runs, weights, first, rows):
    made = _products(runs, weights, first, rows)
    return [replace(i, origin=()) if isinstance(i, Preload) else i for i in made]


@alternative("chip.products")
def with_a_list_of_pieces(runs, weights, first, rows):
    pieces = [(offset + at, min(rows, length - at))
              for offset, length in runs for at in range(0, length, rows)]  # fmt: skip
    made = []
    for number, (offset, k) in enumerate(pieces):
        before = sum(size for _, size in pieces[:number])
        made.append(_preload(weights + before * first.n, k, first))
        made.append(Matmul(
            acts=first.acts + offset, h=first.h, w=first.w, step=first.step, line=first.line, k=k,
            n=first.n, accs=first.accs, add=1 if number else first.add, origin=first.origin,
        ))  # fmt: skip
    return made


@alternative("chip.products")
def pieces_of_equal_length(runs, weights, first, rows):
    """A run of 60 bytes on 32 rows: 30 and 30."""
    made, add = [], first.add
    for offset, length in runs:
        many = -(-length // rows)
        for number in range(many):
            low, high = length * number // many, length * (number + 1) // many
            made.append(_preload(weights, high - low, first))
            made.append(replace(first, acts=first.acts + offset + low, k=high - low, add=add))
            weights, add = weights + (high - low) * first.n, 1
    return made


@alternative("chip.products")
def until_a_run_is_empty(runs, weights, first, rows):
    made = []
    for offset, left in runs:
        while left > 0:
            k = min(rows, left)
            add = first.add if not made else 1
            made.append(_preload(weights, k, first))
            made.append(replace(first, acts=first.acts + offset, k=k, add=add))
            offset, left, weights = offset + k, left - k, weights + k * first.n
    return made


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
