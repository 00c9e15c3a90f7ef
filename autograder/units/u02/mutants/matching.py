"""Mutants and alternatives of unit 2: matching. Next room: rules.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.passes.infra.match import COMMUTATIVE, number_of

# ── passes.match ──

_TYPE = "pattern.type.dtype == node.type.dtype"
_NUMBER = "number_of(node) == number_of(pattern)"
_DEEPER = "yield from _ways([*zip(pattern.inputs, operands, strict=True), *rest], bound)"
_GREEDY = """bindings = next(_ways([*zip(pattern.inputs, operands, strict=True)], bound), None)
                if bindings is not None:
                    yield from _ways(rest, bindings)
                    return"""
_SAME = """def _same(a, b):
    if a is b or a.op == 'input' or (a.op, a.attrs, a.type) != (b.op, b.attrs, b.type):
        return a is b
    return all(map(_same, a.inputs, b.inputs))

def _orders"""


def _number_by(test):
    """The edit which finds out in another way whether a constant is the pattern's number."""
    return _NUMBER, f"node.op == 'constant' and node.value.size and {_TYPE} and {test}"


def _element(place):
    return f"node.value.ravel()[{place}].tobytes() == number_of(pattern)[1]"


def _attributes_by(test):
    return ("(pattern.op, pattern.attrs) == (node.op, node.attrs)",
            f"pattern.op == node.op and {test}")  # fmt: skip


mutants(
    "passes.match",
    # Takes the first order that works for this node alone.
    without_going_back=(_DEEPER, _GREEDY),
    as_written_only=("[node.inputs, *turned]", "[node.inputs]"),
    # Finds every match, with the operands turned around before they are as written.
    the_other_way_first=("[node.inputs, *turned]", "[*turned, node.inputs]"),
    three_operands_at_most=("*zip(pattern.inputs, operands, strict=True)",
                            "*list(zip(pattern.inputs, operands, strict=True))[:3]"),
    one_variable_two_values=("if pattern in bound:", "if False:"),
    # A variable that is used twice may stand for two equal nodes.
    equal_is_the_same=("bound[pattern] is node", "_same(bound[pattern], node)",
                       "def _orders", _SAME),
    # Two variables of one name are one to it.
    variables_have_names=(_TYPE, f"{_TYPE} and all(n is node for p, n in bound.items()"
                          " if p.op == 'input' and p.name == pattern.name)"),
    # x + y does not match x + 1.0, it says.
    a_variable_is_no_number=(_TYPE, f"{_TYPE} and node.op != 'constant'"),
    # A value without elements, or of a size that is not known yet, matches no variable.
    a_variable_has_elements=(_TYPE, f"{_TYPE} and node.type.is_static and node.type.numel"),
    # The result maps variables and operations; the constants of the pattern are missing.
    without_the_numbers=(f"{_NUMBER}:", f"{_NUMBER}:\n            del bound[pattern]"),
    numbers_by_value=_number_by("(node.value == pattern.value.ravel()[0]).all()"),
    # 0 : i32 and 0.0 : f32 have the same bytes.
    bytes_of_any_type=(_NUMBER, "(number_of(node) or '-')[1:] == number_of(pattern)[1:]"),
    # Numbers that differ in the last digit are one to it.
    close_is_equal=("\ndef _ways", "\nimport numpy as np\n\ndef _ways", *_number_by(
        "np.isclose(node.value, pattern.value.ravel()[0], rtol=1e-6, atol=0).all()")),
    by_the_first_element=_number_by(_element(0)),
    by_the_last_element=_number_by(_element(-1)),
    by_the_elements_at_both_ends=_number_by(f"{_element(0)} and {_element(-1)}"),
    any_attributes=_attributes_by("True"),
    # An attribute of the pattern that is None matches every value.
    none_stands_for_anything=_attributes_by(
        "all(v is None or node.attrs[k] == v for k, v in pattern.attrs.items())"),
    # None, false and 0 are one to it.
    nothing_is_zero=_attributes_by(
        "all((node.attrs[k] or 0) == (v or 0) for k, v in pattern.attrs.items())"),
    # Compares the values, and forgets which attribute has which.
    attributes_in_any_order=_attributes_by(
        "sorted(map(repr, pattern.attrs.values())) == sorted(map(repr, node.attrs.values()))"),
)  # fmt: skip


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
        bindings = look_at_all(p.inputs, n.inputs, now, after)
        if bindings is None and p.op in COMMUTATIVE:
            bindings = look_at_all(p.inputs, n.inputs[::-1], now, after)
        return bindings

    def look_at_all(ps, ns, bound, after):
        if not ps:
            return after(bound)
        rest = lambda now: look_at_all(ps[1:], ns[1:], now, after)  # noqa: E731
        return look(ps[0], ns[0], bound, rest)

    return look(pattern, node, {}, lambda bound: bound)


def _all_ways(p, n, bound):
    """A list of every way to extend `bound`."""
    if p in bound:
        return [bound] if bound[p] is n else []
    if p.op == "input":
        return [{**bound, p: n}] if p.type.dtype == n.type.dtype else []
    if p.op == "constant":
        return [{**bound, p: n}] if n.op == "constant" and number_of(p) == number_of(n) else []
    if (p.op, p.attrs, len(p.inputs)) != (n.op, n.attrs, len(n.inputs)):
        return []
    ways = []
    for operands in [n.inputs] + ([n.inputs[::-1]] if n.op in COMMUTATIVE else []):
        now = [{**bound, p: n}]
        for a, b in zip(p.inputs, operands, strict=True):
            now = [w for way in now for w in _all_ways(a, b, way)]
        ways += now
    return ways


alternatives(
    "passes.match",
    by_listing_all_ways=lambda pattern, node: next(iter(_all_ways(pattern, node, {})), None),
)

equivalent("passes.match", "return", "pass",
           because="nobody asks for a second way once all pairs match")  # fmt: skip
equivalent("passes.match", "strict=True), *res", "[*rest, *zip(",
           because="in which order the pairs are looked at is free")  # fmt: skip
