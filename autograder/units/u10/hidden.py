"""Hidden checks of unit 10: other seeds, larger programs, other texts to be tested."""

from __future__ import annotations

from functools import lru_cache

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import raises
from autograder.units.u10.checks import AROUND, FAILS, FREE, NOTHING, PASSES, RETURNS, judged, texts
from autograder.units.u10.checks.lowering import PROGRAMS, matrices, score
from autograder.units.u10.checks.products import right_product
from autograder.units.u10.checks.programs import (
    FOLLOWS,
    KNOWN,
    REFUSED,
    A,
    Shape,
    both,
    ends,
    kept_meaning,
    main,
    product,
    program,
    shapes_match,
    times,
    toys,
    turned,
    typed,
)
from course_lib.exercises import slot
from course_lib.mlir.toy.source import ToyError

SEED = 100_417
harder("u10.culprit", "the_pass_and_what_it_breaks", seed=SEED)
harder("u10.lowered", "it_computes_the_same", seed=SEED, given=matrices(9), examples=25)


@hidden("u10.product", seed=SEED)
def products_of_other_sizes(product, rng):
    """Sizes that were drawn for this run."""
    for _ in range(6):
        right_product(product, *(int(size) for size in rng.integers(1, 7, 3)))


@hidden("u10.matmul", seed=SEED)
def chains_of_products(matmul, rng):
    """Products of products and of transposes, whose shapes are drawn for this run."""
    for _ in range(20):
        sizes = [int(size) for size in rng.integers(1, 9, 5)]
        asked, wanted = (_chain(sizes, known) for known in (False, True))
        shapes_match(matmul, asked, wanted, FOLLOWS)


def _chain(sizes: list[int], known: bool) -> str:
    """The transpose of a product of four matrices; with all shapes, or those of the parameters."""
    shapes = {f"a{k}": (sizes[k], sizes[k + 1]) for k in range(4)}
    lines, left = [], "a0"
    shape: Shape | None = shapes["a0"]
    for k in range(1, 4):
        done = (sizes[0], sizes[k + 1]) if known else None
        lines.append(times(f"p{k}", left, f"a{k}", shape, shapes[f"a{k}"], done))
        left, shape = f"p{k}", done
    end = shape[::-1] if shape else None
    lines.append(turned("t", left, shape, end))
    return program(shapes, *lines, f"toy.print %t : {typed(end)}", "toy.return")


@hidden("u10.matmul", seed=SEED)
def other_operands_that_do_not_fit(matmul, rng):
    """Shapes of other ranks and sizes, drawn for this run."""
    for _ in range(20):
        m, k, n = (int(size) for size in rng.integers(2, 9, 3))
        pairs = [((m, k), (k + 1, n)), ((m, k, 1), (1, n)), ((m,), (m, n)), ((m, k), (k, n, 1)),
                 ((m, k), (k,)), ((m, k), ()), ((m, k, k), (k, n, n)), ((k,), (k,)),
                 ((m, k, n), (n, k, m))]  # fmt: skip
        left, other = pairs[int(rng.integers(len(pairs)))]
        text = product(left, other)
        raises(ToyError, lambda text=text: matmul(text),
               f"There is no product of {typed(left)} and {typed(other)}, so the operation must be "
               "refused.", program=text, spec=REFUSED, called="VerifyException")  # fmt: skip


@hidden("u10.sunk", seed=SEED, given=toys(7), examples=30)
def leaves_as_much_as_ours(sunk, text):
    """After the pass, the program has as many transposes as ours, and as few unknown shapes."""
    from lessons.u10.meaning import unclear

    got, ours = kept_meaning(sunk, text), _sunk(text)
    counts = [one.count("toy.transpose") for one in (got, ours)]
    if counts[0] != counts[1]:
        raise Wrong(f"The program must keep {counts[1]} transposes, not {counts[0]}.",
                    program=text, got=got, expected=ours)  # fmt: skip
    if len(unclear(got)) > len(unclear(ours)):
        raise Wrong("The shape of an operation is unknown although it follows from known ones.",
                    program=text, got=got, expected=ours, spec=KNOWN)  # fmt: skip


@lru_cache(maxsize=256)
def _sunk(text: str) -> str:
    """What our pass makes of a program."""
    return slot("u10.sunk").reference(text)


@hidden("u10.tested", seed=SEED, spec=[AROUND, FREE, RETURNS, NOTHING, PASSES, FAILS])
def other_texts(tested, rng):
    """Other names, other functions, and other mistakes, drawn for this run."""
    return judged(tested, texts(rng, 8, 24, alone=False))


@hidden("u10.lowered", seed=SEED)
def few_operations_in_other_programs(lowered):
    """The same score for other programs, together with those that are known."""
    x = (3, 3)
    mirror = main(turned("t", "a", x, x), both("p", "mul", "a", "t", x, x, x),
                  both("q", "add", "p", "b", x, x, x), turned("r", "q", x, x),
                  both("s", "mul", "r", "q", x, x, x), ends("s", x),
                  result=x, a=x, b=x)  # fmt: skip
    alone = main(turned("t", "a"), ends("t"))
    many = main(*(both(f"v{k}", "add" if k % 2 else "mul", f"v{k - 1}" if k else "b", "a", A, A, A)
                  for k in range(12)), ends("v11", A), result=A)  # fmt: skip
    return score(lowered, [*PROGRAMS, mirror, alone, many])
