"""Mutants and alternatives of unit 2: matching. Next room: rules.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.passes.infra.match import COMMUTATIVE, number_of

# ── passes.match ──


def _greedy(pattern, node, bound, both_orders=True):
    """Takes the first order that works for this node alone."""
    if pattern in bound:
        return bound if bound[pattern] is node else None
    if pattern.op == "input":
        return {**bound, pattern: node} if pattern.type.dtype == node.type.dtype else None
    if pattern.op == "constant":
        return {**bound, pattern: node} if number_of(pattern) == number_of(node) else None
    if (pattern.op, pattern.attrs) != (node.op, node.attrs):
        return None
    if len(pattern.inputs) != len(node.inputs):
        return None
    orders = [node.inputs]
    if both_orders and node.op in COMMUTATIVE:
        orders.append(node.inputs[::-1])
    for operands in orders:
        found = {**bound, pattern: node}
        for p, n in zip(pattern.inputs, operands, strict=False):
            found = found if found is None else _greedy(p, n, found, both_orders)
        if found is not None:
            return found
    return None


@mutant("passes.match")
def without_going_back(pattern, node):
    return _greedy(pattern, node, {})


@mutant("passes.match")
def as_written_only(pattern, node):
    return _greedy(pattern, node, {}, both_orders=False)


@mutant("passes.match")
def one_variable_two_values(pattern, node):
    found = {}

    def look(p, n):
        found[p] = n
        if p.op == "input":
            return p.type.dtype == n.type.dtype
        if p.op == "constant":
            return number_of(p) == number_of(n)
        if (p.op, p.attrs) != (n.op, n.attrs):
            return False
        orders = [n.inputs] + ([n.inputs[::-1]] if n.op in COMMUTATIVE else [])
        return any(all(look(*pair) for pair in zip(p.inputs, o, strict=False)) for o in orders)

    return found if look(pattern, node) else None


def _all_ways(p, n, bound, same_number=lambda a, b: number_of(a) == number_of(b), attrs=True):
    """A list of every way to extend `bound`."""
    if p in bound:
        return [bound] if bound[p] is n else []
    if p.op == "input":
        return [{**bound, p: n}] if p.type.dtype == n.type.dtype else []
    if p.op == "constant":
        return [{**bound, p: n}] if n.op == "constant" and same_number(p, n) else []
    if p.op != n.op or len(p.inputs) != len(n.inputs) or (attrs and p.attrs != n.attrs):
        return []
    ways = []
    for operands in [n.inputs] + ([n.inputs[::-1]] if n.op in COMMUTATIVE else []):
        now = [{**bound, p: n}]
        for a, b in zip(p.inputs, operands, strict=True):
            now = [w for one in now for w in _all_ways(a, b, one, same_number, attrs)]
        ways += now
    return ways


@mutant("passes.match")
def numbers_by_value(pattern, node):
    def same(a, b):
        return a.type.dtype == b.type.dtype and bool((b.value == a.value.ravel()[0]).all())

    return next(iter(_all_ways(pattern, node, {}, same)), None)


@mutant("passes.match")
def any_attributes(pattern, node):
    return next(iter(_all_ways(pattern, node, {}, attrs=False)), None)


@mutant("passes.match")
def bytes_of_any_type(pattern, node):
    """0 : i32 and 0.0 : f32 have the same bytes."""

    def same(a, b):
        mine, theirs = number_of(a), number_of(b)
        return mine is not None and theirs is not None and mine[1] == theirs[1]

    return next(iter(_all_ways(pattern, node, {}, same)), None)


@mutant("passes.match")
def a_variable_is_no_number(pattern, node):
    """x + y does not match x + 1.0, it says."""
    found = by_a_stack(pattern, node)
    numbers = [n for p, n in (found or {}).items() if p.op == "input" and n.op == "constant"]
    return None if numbers else found


@mutant("passes.match")
def without_the_numbers(pattern, node):
    """The result maps variables and operations; the constants of the pattern are missing."""
    found = by_a_stack(pattern, node)
    return found and {p: n for p, n in found.items() if p.op != "constant"}


@mutant("passes.match")
def the_other_way_first(pattern, node):
    """Finds every match, with the operands turned around before they are as written."""
    return next(reversed(_all_ways(pattern, node, {})), None)


@mutant("passes.match")
def equal_is_the_same(pattern, node):
    """A variable that is used twice may stand for two equal nodes."""
    merged = {}

    def one(n):
        inputs = tuple(one(i) for i in n.inputs)
        key = n if n.op == "input" else (n.op, inputs, repr(n.attrs), n.type)
        return merged.setdefault(key, n.with_inputs(inputs))

    return by_a_stack(pattern, one(node))


@alternative("passes.match")
def by_a_stack(pattern, node):
    """The ways that are still to be tried lie on a stack; no function calls itself."""
    stack = [([(pattern, node)], {})]
    while stack:
        pairs, bound = stack.pop()
        if not pairs:
            return bound
        (p, n), *rest = pairs
        if p in bound:
            if bound[p] is n:
                stack.append((rest, bound))
            continue
        now = {**bound, p: n}
        if (p.op == "input" and p.type.dtype == n.type.dtype) or (
            p.op == "constant" and number_of(p) is not None and number_of(p) == number_of(n)
        ):
            stack.append((rest, now))
        elif p.inputs and (p.op, p.attrs, len(p.inputs)) == (n.op, n.attrs, len(n.inputs)):
            orders = [n.inputs, n.inputs[::-1]] if n.op in COMMUTATIVE else [n.inputs]
            stack += [([*zip(p.inputs, o, strict=True), *rest], now) for o in orders[::-1]]
    return None


@alternative("passes.match")
def with_what_comes_after(pattern, node):
    """Each step is told what is to be done once it has found something."""

    def look(p, n, bound, after):
        if p in bound:
            return after(bound) if bound[p] is n else None
        now = {**bound, p: n}
        if p.op == "input":
            return after(now) if p.type.dtype == n.type.dtype else None
        if p.op == "constant":
            return after(now) if number_of(p) == number_of(n) else None
        if p.op != n.op or p.attrs != n.attrs or len(p.inputs) != len(n.inputs):
            return None
        found = look_at_all(p.inputs, n.inputs, now, after)
        if found is None and p.op in COMMUTATIVE:
            found = look_at_all(p.inputs, n.inputs[::-1], now, after)
        return found

    def look_at_all(ps, ns, bound, after):
        if not ps:
            return after(bound)
        rest = lambda now: look_at_all(ps[1:], ns[1:], now, after)  # noqa: E731
        return look(ps[0], ns[0], bound, rest)

    return look(pattern, node, {}, lambda bound: bound)


@alternative("passes.match")
def by_listing_all_ways(pattern, node):
    return next(iter(_all_ways(pattern, node, {})), None)


@mutant("passes.match")
def variables_have_names(pattern, node):
    """Two variables of one name are one to it, and two values of one name are one, too."""
    ways = _all_ways(pattern, node, {})
    for found in ways:
        of = {}
        if all(of.setdefault(p.name, n) is n for p, n in found.items() if p.op == "input"):
            return found
    return None


@mutant("passes.match")
def close_is_equal(pattern, node):
    """Numbers that differ in the last digit are one to it."""

    def same(a, b):
        if a.type.dtype != b.type.dtype or not b.value.size:
            return False
        return bool(np.isclose(b.value, a.value.ravel()[0], rtol=1e-6, atol=0).all())

    return next(iter(_all_ways(pattern, node, {}, same)), None)


def _same_bytes(*places):
    """Numbers compared at these places of the node's constant."""

    def same(a, b):
        if a.type.dtype != b.type.dtype or not b.value.size:
            return False
        first, flat = a.value.ravel()[0].tobytes(), b.value.ravel()
        return all(flat[place].tobytes() == first for place in places)

    return same


@mutant("passes.match")
def by_the_first_element(pattern, node):
    return next(iter(_all_ways(pattern, node, {}, _same_bytes(0))), None)


@mutant("passes.match")
def by_the_last_element(pattern, node):
    return next(iter(_all_ways(pattern, node, {}, _same_bytes(-1))), None)


@mutant("passes.match")
def by_the_elements_at_both_ends(pattern, node):
    return next(iter(_all_ways(pattern, node, {}, _same_bytes(0, -1))), None)


def _looser(pattern, node, fits):
    """The first match without a look at attributes in which those of all operations fit."""
    for found in _all_ways(pattern, node, {}, attrs=False):
        pairs = [(p.attrs, n.attrs) for p, n in found.items() if p.op not in ("input", "constant")]
        if all(fits(mine, theirs) for mine, theirs in pairs):
            return found
    return None


@mutant("passes.match")
def none_stands_for_anything(pattern, node):
    """An attribute of the pattern that is None matches every value."""
    return _looser(pattern, node, lambda mine, theirs: all(
        value is None or theirs[name] == value for name, value in mine.items()
    ))  # fmt: skip


@mutant("passes.match")
def nothing_is_zero(pattern, node):
    """None, false and 0 are one to it."""
    return _looser(pattern, node, lambda mine, theirs: all(
        (theirs[name] or 0) == (value or 0) for name, value in mine.items()
    ))  # fmt: skip


@mutant("passes.match")
def attributes_in_any_order(pattern, node):
    """Compares the values, and forgets which attribute has which."""
    return _looser(pattern, node, lambda mine, theirs: (
        sorted(map(repr, mine.values())) == sorted(map(repr, theirs.values()))
    ))  # fmt: skip


@mutant("passes.match")
def three_operands_at_most(pattern, node):
    """As many operands, and the first three of them match."""

    def look(p, n, bound):
        if p in bound:
            return bound if bound[p] is n else None
        found = next(iter(_all_ways(p, n, bound)), None) if len(p.inputs) < 4 else {**bound, p: n}
        if found is None or len(p.inputs) < 4:
            return found
        if (p.op, p.attrs, len(p.inputs)) != (n.op, n.attrs, len(n.inputs)):
            return None
        for mine, theirs in list(zip(p.inputs, n.inputs, strict=True))[:3]:
            found = found if found is None else look(mine, theirs, found)
        return found

    return look(pattern, node, {})


@mutant("passes.match")
def a_variable_has_elements(pattern, node):
    """A value without elements, or of a size that is not known yet, matches no variable."""
    found = by_a_stack(pattern, node)
    values = [n for p, n in (found or {}).items() if p.op == "input"]
    return found if all(n.type.is_static and n.type.numel for n in values) else None


equivalent("passes.match", "return", "pass",
           because="nobody asks for a second way once all pairs match")  # fmt: skip
equivalent("passes.match", "strict=True), *res", "[*rest, *zip(",
           because="in which order the pairs are looked at is free")  # fmt: skip
