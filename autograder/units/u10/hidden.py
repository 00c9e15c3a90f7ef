"""Hidden checks of unit 10: other seeds, larger programs, other texts to be tested.

Next room: mutants, the answers that all of these checks are tried on.
"""

from __future__ import annotations

from functools import lru_cache

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.properties import raises
from autograder.units.u10.checks import AROUND, FAILS, FREE, NOTHING, PASSES, RETURNS, judged, texts
from autograder.units.u10.checks.lowering import MODULE, PROGRAMS, matrices, score
from autograder.units.u10.checks.products import right_product
from autograder.units.u10.checks.programs import FOLLOWS, REFUSED, product, shapes_match, toy, typed
from autograder.units.u10.checks.transposes import KNOWN, kept_meaning, toys
from course_lib.exercises import slot
from course_lib.mlir.toy.source import ToyError

SEED = 100_417
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
        given = {f"a{k}": (sizes[k], sizes[k + 1]) for k in range(4)}
        shapes_match(matmul, toy(CHAIN, given), toy(CHAIN.replace("?", ""), given), FOLLOWS)


# The transpose of a product of four matrices.
CHAIN = ("p? = matmul a0 a1; q? = matmul p a2; r? = matmul q a3; t? = transpose r; print t; "
         "return")  # fmt: skip


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
    from lessons.u10.meaning import unclear  # xDSL need not be installed

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


@hidden("u10.lowered", seed=SEED, spec=MODULE)
def few_operations_in_other_programs(lowered):
    """The same score for other programs, together with those that are known."""
    mirror = toy("t = transpose a; p = mul a t; q = add p b; r = transpose q; s = mul r q; "
                 "return s", {"a": (3, 3), "b": (3, 3)})  # fmt: skip
    return score(lowered, [*PROGRAMS, mirror, toy("t = transpose a; return t")])
