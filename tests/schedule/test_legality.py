"""Dependences and legality on random nests: isl, another library, says the same, pair for pair.

for i in 0..3 { for j in i..4 { out[2*i - j + 4] = out[i + j] } }       depth 1 to 4, several
statements, negative and strided coefficients, triangular bounds, locals, sums

A witness is checked by running through all iterations; a yes by the loop interpreter; a no by
putting the iterations in the new order, in which the two of the witness have changed places.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.bridges.isl import scheduled
from course_lib.ir.expr import Affine, Expr, Load, call, literal, loads
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.loops.polyhedra.dependences import LATER, Dependence, dependences
from course_lib.ir.loops.polyhedra.domains import Statement, statements_of
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import extreme, loops, nest_of, substitute
from course_lib.ir.types import TensorType, f32
from course_lib.schedule.legality import (
    Answer,
    Order,
    may_parallelize,
    may_reorder,
    may_run,
    may_tile,
)
from course_lib.schedule.primitives.fission import fission
from course_lib.schedule.primitives.parallelize import parallelize
from course_lib.schedule.primitives.reorder import reorder
from course_lib.schedule.primitives.skew import skew
from course_lib.schedule.primitives.split import split

V = Affine.var
PARTS = [range(k, k + 201) for k in range(0, 1005, 201)]  # a seed for each nest


# ── other orders that primitives make, as the same test sees them ──


def may_skew(kernel: Kernel, outer: str, inner: str, factor: int) -> Answer:
    """May iteration `inner` of a loop run as iteration inner + factor * outer? It always may: of
    two iterations with the same `outer` the first one stays first."""
    skewed = V(inner) + V(outer) * factor
    return may_run(kernel, outer, lambda s: Order(
        tuple(entry.substitute({inner: skewed}) for entry in s.time)), True)  # fmt: skip


def may_fuse(kernel: Kernel, first: str, second: str, exact: bool = False) -> Answer:
    """May two loops of one block become one, which runs iteration i of the first loop and then
    iteration i of the second?"""
    before, after = nest_of(kernel.body, first), nest_of(kernel.body, second)
    if not before or not after or before[:-1] != after[:-1]:
        raise ValueError(f"{first} and {second} are not two loops of one block")
    block, depth = before[-2].body if before[:-1] else kernel.body, 2 * len(before) - 2
    place, more = Affine((), block.index(before[-1])), len(before[-1].body)

    def new(statement: Statement) -> Order:
        time = statement.time
        if second in statement.vars:
            time = (
                *time[:depth],
                place,
                time[depth + 1],
                time[depth + 2] + more,
                *time[depth + 3 :],
            )
        return Order(time)

    return may_run(kernel, before[-2].var if before[:-1] else "", new, exact)


def may_fission(kernel: Kernel, var: str, exact: bool = False) -> Answer:
    """May a loop go inward, to each run of statements that write (`primitives/fission.py`)?"""

    def new(statement: Statement) -> Order:
        depth, last = statement.vars.index(var), statement.position[-1]
        block, run = statement.around[-1].body, last
        while run and not isinstance(block[run - 1], Loop):
            run -= 1
        time = statement.time
        around = (*time[: 2 * depth + 1], *time[2 * depth + 2 : -1])
        return Order((*around, Affine((), run), V(var), Affine((), last)))

    return may_run(kernel, var, new, exact)


# ── random nests ──


class Making:
    """A random kernel: `out` is read and written, `x` is read, some nests have a local."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = iter("ijklmnpqrs")
        self.perfect = self.random.random() < 0.6

    def kernel(self) -> Kernel:
        depth = self.random.choice([1, 1, 2, 2, 2, 2, 2, 3, 3, 4])
        self.rank = self.random.choice([1, 1, 2])
        nests = 1 if self.perfect else self.random.choice([1, 2])
        if nests == 2:
            depth = min(depth, 2)
        body = tuple(self.nest([], depth, local=False) for _ in range(nests))
        return fitted(Kernel("k", (*[Buffer(n, TensorType(f32, ())) for n in ("x", "out")],), body))

    def nest(self, around: list[Loop], depth: int, local: bool) -> Loop:
        pick, number = self.random.choice, self.random.randint
        start, stop = Affine((), number(0, 2)), Affine((), number(2, 5 if depth < 3 else 4))
        if around and pick([0, 0, 1]):
            of = V(pick(around).var) * pick([1, 1, -1, 2])
            start, stop = pick([(of, of + number(1, 4)), (start, of + 3), (of, stop + 1)])
        loop = Loop(next(self.names), start, stop, ())
        inner = [*around, loop]
        declared = not local and pick([False, False, False, True])
        body: list[Stmt] = [Local(Buffer(f"t{loop.var}", TensorType(f32, ())))] if declared else []
        name = f"t{loop.var}" if declared else ""
        if declared:
            body.append(Store(name, (), self.value(inner, "")))
        if depth > 1:
            body = [] if self.perfect else body
            if not self.perfect and pick([0, 1]):
                body.append(self.statement(inner, name if body else ""))
            body.append(self.nest(inner, depth - 1, local or declared))
        if depth == 1 or (not self.perfect and pick([0, 1])):
            body += [self.statement(inner, name if body else "") for _ in range(pick([1, 1, 2]))]
        return replace(loop, body=tuple(body))

    def index(self, around: list[Loop]) -> Affine:
        terms = [V(lo.var) * self.random.choice([0, 1, 1, 1, -1, 2, -2, 3]) for lo in around]
        return sum(terms, Affine((), self.random.randint(-2, 2)))

    def place(self, around: list[Loop]) -> tuple[Affine, ...]:
        return tuple(self.index(around) for _ in range(self.rank))

    def value(self, around: list[Loop], local: str):
        value: Expr = Load(self.random.choice(["out", "out", "x"]), self.place(around), f32)
        more: list[Expr] = [Load(local, (), f32)] if local else [literal(1.0, f32)]
        if self.random.random() < 0.15:
            more.append(Load("out", self.place(around), f32))
        for other in more:
            value = call("add", value, other)
        return value

    def statement(self, around: list[Loop], local: str) -> Stmt:
        if self.random.random() < 0.3:
            place = self.place(around[: self.random.randint(0, len(around))])
            return Accumulate("out", place, "add", Load("x", self.place(around), f32))
        return Store("out", self.place(around), self.value(around, local))


def fitted(kernel: Kernel) -> Kernel:
    """The kernel with buffers as large as its indices reach, from 0 on."""
    touched = [(s, a) for s in statements_of(kernel.body) for a in s.accesses]
    types, least = {}, {}
    for name in ("x", "out"):
        mine = [(s, a.indices) for s, a in touched if a.buffer == name]
        axes = [*zip(*([(s, i) for i in indices] for s, indices in mine), strict=True)]
        ends = [[[extreme(i, s.around, sign).const for s, i in axis] for sign in (-1, 1)]
                for axis in axes]  # fmt: skip
        least[name] = [min(low) for low, _ in ends]
        types[name] = tuple(max(max(high) - min(low) + 1, 1) for low, high in ends)
    sizes = [Buffer(n, TensorType(f32, types[n])) for n in ("x", "out")]

    def moved(name: str, indices: tuple) -> tuple:
        if name not in least:
            return indices
        return tuple(i - low for i, low in zip(indices, least[name], strict=True))

    def one(stmt: Stmt) -> Stmt:
        match stmt:
            case Loop():
                return replace(stmt, body=tuple(map(one, stmt.body)))
            case Store() | Accumulate():
                value = on(stmt.value)
                return replace(stmt, indices=moved(stmt.buffer, stmt.indices), value=value)
        return stmt

    def on(e):
        if isinstance(e, Load):
            return replace(e, indices=moved(e.buffer, e.indices))
        return replace(e, args=tuple(map(on, e.args))) if loads(e) else e

    return verify_kernel(replace(kernel, params=tuple(sizes), body=tuple(map(one, kernel.body))))


def made(seed: int) -> Kernel:
    return Making(seed).kernel()


# ── all iterations, one after another ──


def iterations(body: Sequence[Stmt], at: Mapping[str, int], path: tuple = ()) -> Iterator[tuple]:
    """(position of the statement, values of its variables ...), in the order of the program."""
    for place, stmt in enumerate(body):
        match stmt:
            case Loop(var):
                start = max(bound.evaluate(at) for bound in stmt.starts)
                for i in range(start, min(bound.evaluate(at) for bound in stmt.stops)):
                    yield from iterations(stmt.body, {**at, var: i}, (*path, place))
            case Store() | Accumulate():
                yield ((*path, place), *at.values())


def check_witness(found: Dependence, when: Mapping[tuple, int]) -> None:
    """Both are iterations, in this order, and touch one element, as the accesses say."""
    assert found.point is not None
    pair, point = found.pair, found.point
    at = {v: point[v] for v in pair.source.vars}
    then = {v: point[v + LATER] for v in pair.sink.vars}
    assert when[pair.source.position, *at.values()] < when[pair.sink.position, *then.values()]
    here, there = (
        [i.evaluate(values) for i in access.indices if isinstance(i, Affine)]
        for access, values in ((pair.first, at), (pair.second, then))
    )
    assert here == there
    alive = pair.source.vars[: pair.source.private.get(pair.buffer, 0)]
    assert all(at[v] == then[v] for v in alive)
    assert found.steps == {v: then[v] - at[v] for v in pair.vars}


# ── isl says the same ──


class Isl:
    """The same kernel in isl: maps from the iterations of a statement to elements and to times.
    What a local is indexed with begins with the loops that it lives in."""

    def __init__(self, isl, kernel: Kernel) -> None:
        self.isl = isl
        self.statements = list(statements_of(kernel.body))
        self.long = max(len(s.position) for s in self.statements) * 2 + 4
        self.found = list(self._dependences())

    def map(self, statement: Statement, to: str) -> Any:
        """{ S[i, j] -> to : domain }"""
        around = statement.around
        where = [f"{bound} <= {lo.var}" for lo in around for bound in lo.starts]
        where += [f"{lo.var} < {bound}" for lo in around for bound in lo.stops]
        number = self.statements.index(statement)
        head = f"S{number}[{', '.join(statement.vars)}]"
        return self.isl.Map(f"{{ {head} -> {to} : {' and '.join(where)} }}")

    def times(self, new) -> list[Any]:
        """A schedule; `new(statement)` gives the entries."""
        entries = [[*map(str, new(s))] for s in self.statements]
        padded = [", ".join([*e, *["0"] * (self.long - len(e))]) for e in entries]
        return [self.map(s, f"[{e}]") for s, e in zip(self.statements, padded, strict=True)]

    def _dependences(self) -> Iterator[tuple]:
        """(kind, an access, a later one, between which iterations)"""
        time, touched = self.times(lambda s: s.time), []
        for n, s in enumerate(self.statements):
            for a in s.accesses:
                alive = s.vars[: s.private.get(a.buffer, 0)]
                place = f"{a.buffer}[{', '.join([*alive, *map(str, a.indices)])}]"
                touched.append((n, a, self.map(s, place)))
        for (n, a, here), (m, b, there) in product(touched, touched):
            kind = {"writeread": "flow", "readwrite": "anti", "writewrite": "output"}
            if a.buffer == b.buffer and a.way + b.way in kind:
                meet = here.apply_range(there.reverse())
                meet = meet if meet.is_empty() else meet.intersect(time[n].lex_lt_map(time[m]))
                if not meet.is_empty():
                    yield kind[a.way + b.way], (n, a), (m, b), meet

    def pairs(self, kind: str) -> set[tuple]:
        places = [s.position for s in self.statements]
        return {((places[n], a), (places[m], b)) for k, (n, a), (m, b), _ in self.found
                if k == kind}  # fmt: skip

    def legal(self, new, exact: bool) -> bool:
        """Does no dependence run backwards in a new order?"""
        time = self.times(new)
        return all(meet.intersect(time[n].lex_ge_map(time[m])).is_empty()
                   for _, (n, a), (m, b), meet in self.found
                   if exact or not (a.buffer == b.buffer == "out" and self.adds(n, m)))  # fmt: skip

    def adds(self, *numbers: int) -> bool:
        """Do the statements only add to the result?"""
        return all(isinstance(self.statements[n].write, Accumulate) for n in numbers)


@pytest.fixture(scope="module")
def isl():
    return pytest.importorskip("islpy")


def ours(found: Dependence) -> tuple:
    pair = found.pair
    return (pair.source.position, pair.first), (pair.sink.position, pair.second)


@pytest.mark.parametrize("seeds", PARTS, ids=str)
def test_isl_finds_the_same_dependences_and_gives_the_same_answers(isl, seeds: range) -> None:
    """Dependences for each pair of accesses and each kind. All of 3 nests are too hard for us."""
    decided, said = 0, {True: 0, False: 0}
    for seed in seeds:
        kernel = made(seed)
        theirs = Isl(isl, kernel)
        found = dependences(kernel.body)
        known = [d for d in found if d.point is not None]
        for kind in ("flow", "anti", "output"):
            pairs = theirs.pairs(kind)
            sure, may = ({ours(d) for d in some if d.kind == kind} for some in (known, found))
            assert sure <= pairs <= may, (seed, kind, kernel)
        decided += known == found
        when = {one: n for n, one in enumerate(iterations(kernel.body, {}))}
        for dependence in known:
            check_witness(dependence, when)
        for what, exact, ask, new in questions(kernel, random.Random(seed)):
            answer = ask()
            if answer.witness is None or answer.witness.point is not None:
                legal = theirs.legal(new, exact)
                assert bool(answer) == legal, (seed, what, exact, str(answer), kernel)
                said[legal] += 1
    assert decided >= len(seeds) - 3 and min(said.values()) > 25


def outer(kernel: Kernel) -> list[Loop]:
    """The loops that stand one in another, from the first one on, with nothing beside them."""
    nest, body = [], kernel.body[:1]
    while len(body) == 1 and isinstance(loop := body[0], Loop):
        nest.append(loop)
        body = loop.body
    return nest


def questions(kernel: Kernel, rng: random.Random) -> list[tuple]:
    """One of many about a kernel: (what, exact, how we are asked, the new order for isl)."""
    nest, exact = [loop.var for loop in outer(kernel)], rng.random() < 0.5
    order, var = rng.sample(nest, len(nest)), rng.choice([loop.var for loop in loops(kernel.body)])
    sizes = {v: rng.randint(2, 3) for v in nest[: rng.randint(1, min(3, len(nest)))]}
    inside = {s.position for s in statements_of(kernel.body) if var in s.vars}
    to, back = dict(zip(nest, order, strict=True)), {var: f"-{var}"}  # legal if no order is needed
    found = [
        (f"tile {sizes}", exact, partial(may_tile, kernel, sizes, exact),
         partial(tiled, kernel, sizes)),
        (f"fission {var}", exact, partial(may_fission, kernel, var, exact),
         partial(fissioned, var, inside)),
        (f"parallelize {var}", True, partial(may_parallelize, kernel, var), partial(swapped, back)),
    ]  # fmt: skip
    match kernel.body:
        case (Loop(one, body=body), Loop(other)):
            found.append(
                (
                    f"fuse {one} {other}",
                    exact,
                    partial(may_fuse, kernel, one, other, exact),
                    partial(fused, len(body)),
                )
            )
    if len(nest) > 1:
        skewed = {nest[1]: f"{nest[1]} + 2*{nest[0]}"}
        found += [(f"reorder {order}", exact, partial(may_reorder, kernel, order, exact),
                   partial(swapped, to)),
                  ("skew", True, partial(may_skew, kernel, nest[0], nest[1], 2),
                   partial(swapped, skewed))]  # fmt: skip
    return [rng.choice(found)]


def swapped(to: Mapping[str, str], s: Statement) -> list[str]:
    return [to.get(str(entry), str(entry)) for entry in s.time]


def tiled(kernel: Kernel, sizes: Mapping[str, int], s: Statement) -> list[str]:
    nest, around = outer(kernel), []
    firsts = {}
    for loop in nest:
        firsts[loop.var] = extreme(loop.start, around, -1).const
        around = [*around, loop]
    blocks = [f"floor(({var} - {firsts[var]})/{size})" for var, size in sizes.items()]
    entries = [*map(str, s.time)]
    return [*entries[:1], *blocks, *entries[1:]] if s.position[0] == 0 else entries


def fused(first: int, s: Statement) -> list[str]:
    place, var, inner, *rest = map(str, s.time)
    return (
        [place, var, inner, *rest] if place == "0" else ["0", var, str(int(inner) + first), *rest]
    )


def fissioned(var: str, inside: set, s: Statement) -> list[str]:
    if s.position not in inside:
        return [*map(str, s.time)]
    block, last = s.around[-1].body, s.position[-1]
    run = max((k + 1 for k in range(last) if isinstance(block[k], Loop)), default=0)
    at = s.vars.index(var)
    entries = [*map(str, s.time)]
    return [*entries[: 2 * at + 1], *entries[2 * at + 2 : -1], str(run), var, str(last)]


def test_isls_own_order_keeps_the_result(isl) -> None:
    """Where it can be said in our loops; the pieces of others would need quotients or an if."""
    said = 0
    for seed in range(80):
        kernel = made(seed)
        try:
            other = scheduled(kernel, fuse=seed % 2 == 0).kernel
        except ValueError as error:
            assert re.search(
                "told of locals|no sum|no else|a condition|steps of 1|outside", str(error)
            )
            continue
        np.testing.assert_array_equal(outcome(other), outcome(kernel), f"{kernel}{other}")
        said += 1
    assert said > 40


# ── yes and no, tried ──


def outcome(kernel: Kernel) -> np.ndarray:
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.integers(-3, 4, b.type.dims).astype(np.float32) for b in kernel.params}
    run_kernel(kernel, arrays)
    return arrays["out"]


def anyway(step, *arguments) -> Kernel:
    """A primitive that does not ask whether it is legal."""
    module = f"course_lib.schedule.primitives.{step.__name__}"
    asks = {reorder: "may_reorder", fission: "demand_independent"}
    with mock.patch(f"{module}.{asks[step]}", lambda *_, **__: Answer()):
        return step(*arguments)


def same(kernel: Kernel, other: Kernel, answer: Answer) -> None:
    """If the answer is yes, both mean the same. A sum that is regrouped is exact if it is small."""
    if answer:
        want = outcome(kernel)
        if not answer.rests_on or np.abs(want).max(initial=0) < 2**20:
            np.testing.assert_array_equal(outcome(other), want, f"{kernel}{other}{answer}")


NESTS = st.integers(0, 9999).map(made)


@given(kernel=NESTS, data=st.data(), exact=st.booleans())
def test_a_yes_keeps_the_result_and_a_no_swaps_two_iterations(kernel, data, exact) -> None:
    nest = [loop.var for loop in outer(kernel)]
    order = data.draw(st.permutations(nest))
    answer = may_reorder(kernel, order, exact)
    try:
        other = anyway(reorder, kernel, order)
    except ValueError as error:
        assert "would be quotients" in str(error)
        return
    same(kernel, other, answer)
    if exact:
        try:
            assert reorder(kernel, order) == other and answer
        except ValueError as error:
            assert str(answer).removeprefix("no: ") in str(error)
    if answer.witness is not None and answer.witness.point is not None:
        point, pair = answer.witness.point, answer.witness.pair
        names = [*order, *pair.source.vars[len(nest) :]]
        when = list(iterations(other.body, {}))
        first = (pair.source.position, *(point[v] for v in names))
        names = [*order, *pair.sink.vars[len(nest) :]]
        second = (pair.sink.position, *(point[v + LATER] for v in names))
        assert when.index(second) < when.index(first)


@given(kernel=NESTS, data=st.data())
def test_blocks_that_are_allowed_keep_the_result(kernel, data) -> None:
    nest = [loop.var for loop in outer(kernel)][:3]
    sizes = {var: data.draw(st.integers(2, 3)) for var in nest}
    answer, other = may_tile(kernel, sizes), kernel
    for var, size in sizes.items():
        loop = next(lo for lo in loops(other.body) if lo.var == var)
        if (
            loop.extent is not None
            and not loop.start.terms
            and (loop.extent % size or not loop.extent)
        ):
            return  # leaves a rest beside the blocks
        other = split(other, var, size)
    same(kernel, other, Answer())
    if nest:
        try:
            other = anyway(reorder, other, [f"{v}{end}" for end in "oi" for v in nest])
        except ValueError as error:
            assert "would be quotients" in str(error)
        else:
            same(kernel, other, answer)


@given(kernel=NESTS, data=st.data())
def test_loops_that_may_run_at_the_same_time_may_run_backwards(kernel, data) -> None:
    var = data.draw(st.sampled_from([loop.var for loop in loops(kernel.body)]))
    answer = may_parallelize(kernel, var)
    try:
        assert parallelize(kernel, var) and answer
    except ValueError as error:
        assert str(answer).removeprefix("no: ") in str(error)
    mirrored = partial(mirror, var)
    same(kernel, replace(kernel, body=tuple(map(mirrored, kernel.body))), answer)


def mirror(var: str, stmt: Stmt) -> Stmt:
    """The last iteration of a loop first."""
    if not isinstance(stmt, Loop):
        return stmt
    if stmt.var == var:
        to = {var: stmt.start + stmt.stop - 1 - V(var)}
        return replace(stmt, body=substitute(stmt.body, to))
    return replace(stmt, body=tuple(mirror(var, inner) for inner in stmt.body))


@given(kernel=NESTS, data=st.data())
def test_other_changes_that_are_allowed_keep_the_result(kernel, data) -> None:
    var = data.draw(st.sampled_from([loop.var for loop in loops(kernel.body)]))
    try:
        same(kernel, anyway(fission, kernel, var), may_fission(kernel, var))
    except ValueError as error:
        assert "bounds" in str(error)
    nest = outer(kernel)
    if len(nest) > 1:
        factor = data.draw(st.integers(-2, 2))
        answer = may_skew(kernel, nest[0].var, nest[1].var, factor)
        assert answer
        same(kernel, skew(kernel, nest[0].var, nest[1].var, factor), answer)
    match kernel.body:
        case (Loop() as one, Loop() as other) if (one.start, one.stop) == (other.start, other.stop):
            body = (*one.body, *substitute(other.body, {other.var: V(one.var)}))
            both = replace(kernel, body=(replace(one, body=body),))
            same(kernel, both, may_fuse(kernel, one.var, other.var))
