"""Einstein's summation convention as matrix products.

    einsum("bhid,bhjd->bhij", [q, k])   ->   reshape(matmul(%q, transpose(%k)))

An equation names the axes of each operand; an axis that the result does not name is summed over.
Next: `images.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from course_lib.frontend import blocks
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node


def einsum(equation: str, xs: Sequence[Node]) -> Node:
    """Multiply the operands one by one from the left, each time as one matmul."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    spread = _ellipsis_letters(terms, xs)
    ranks = _ellipsis_ranks(terms, xs)
    terms = [t.replace("...", spread[len(spread) - n :]) for t, n in zip(terms, ranks, strict=True)]
    if not arrow:
        joined = "".join(terms)
        once = sorted(c for c in set(joined) if joined.count(c) == 1 and c not in spread)
        right = spread + "".join(once)
    right = right.replace("...", spread)
    operands = [_diagonal(x, term) for x, term in zip(xs, terms, strict=True)]
    value, letters = operands[0]
    for k, (other, more) in enumerate(operands[1:], start=2):
        later = set(right).union(*(t for _, t in operands[k:]))
        value, letters = _pair(value, letters, other, more, later)
    gone = [a for a, c in enumerate(letters) if c not in right]
    value = b.reduce_sum(value, gone) if gone else value
    letters = "".join(c for c in letters if c in right)
    return b.transpose(value, [letters.index(c) for c in right])


def _ellipsis_ranks(terms: Sequence[str], xs: Sequence[Node]) -> list[int]:
    return [x.type.rank - len(t.replace("...", "")) if "..." in t else 0
            for t, x in zip(terms, xs, strict=True)]  # fmt: skip


def _ellipsis_letters(terms: Sequence[str], xs: Sequence[Node]) -> str:
    """Fresh names for the axes that `...` stands for."""
    return "0123456789"[: max(_ellipsis_ranks(terms, xs))]


def _diagonal(x: Node, term: str) -> tuple[Node, str]:
    """A letter that stands twice in one operand picks the diagonal of those axes."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first, second = [a for a, c in enumerate(term) if c == letter][:2]
            rest = [a for a in range(len(term)) if a not in (first, second)]
            size = x.type.dims[first]
            flat = b.reshape(b.transpose(x, [first, second, *rest]),
                             (size * size, *(x.type.dims[a] for a in rest)))  # fmt: skip
            x = blocks.cut(flat, 0, 0, None, size + 1)
            term = letter + "".join(term[a] for a in rest)
    return x, term


def _pair(x: Node, left: str, y: Node, right: str, later: set[str]) -> tuple[Node, str]:
    """x and y multiplied, summed over the letters that nobody needs later: one matmul.

    Letters fall into four groups: batch (both, kept), m (left only), n (right only), k (summed).
    """
    x, left = _summed(x, left, set(right) | later)
    y, right = _summed(y, right, set(left) | later)
    batch = [c for c in left if c in right and c in later]
    k = [c for c in left if c in right and c not in later]
    m = [c for c in left if c not in right]
    n = [c for c in right if c not in left]
    z = b.matmul(_grouped(x, left, batch, m, k), _grouped(y, right, batch, k, n))
    sizes = dict(zip(left + right, x.type.dims + y.type.dims, strict=True))
    apart = [*z.type.dims[: len(batch)], *(sizes[c] for c in m + n)]
    return b.reshape(z, apart), "".join(batch + m + n)


def _summed(x: Node, term: str, needed: set[str]) -> tuple[Node, str]:
    gone = [a for a, c in enumerate(term) if c not in needed]
    kept = "".join(c for c in term if c in needed)
    return (b.reduce_sum(x, gone) if gone else x), kept


def _grouped(x: Node, term: str, batch: list[str], rows: list[str], columns: list[str]) -> Node:
    """As [*batch, rows, columns] with the letters of a group merged into one axis."""
    moved = b.transpose(x, [term.index(c) for c in batch + rows + columns])
    dims = moved.type.dims
    cut1, cut2 = len(batch), len(batch) + len(rows)
    return b.reshape(moved, (*dims[:cut1], math.prod(dims[cut1:cut2]), math.prod(dims[cut2:])))
