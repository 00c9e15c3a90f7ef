"""Answers to machine.cover, wrong and right. Next room: registers.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.machine.cover import match, maximal_munch, one_by_one

COVER = "machine.cover"
WHOLE = "return _cheapest(tree, patterns, {})[1]"
SUM = "cost + sum((c for c, _ in parts))"
BY_VALUE = ("if id(tree) not in known", "if tree not in known", "known[id(tree)] =",
            "known[tree] =", "return known[id(tree)]", "return known[tree]")  # fmt: skip


def _greedy(best):
    """From the root down, `best` of the patterns that fit. `key` is the size of one: operations
    and leaves, `fits[n]` are the subtrees that it leaves."""
    return WHOLE, f"return _greedily(tree, patterns, lambda fits, key: {best})"


def _paid_once(what):
    """A dict for each cover, of what it pays: equal keys are paid once."""
    return (
        "return (0, [])", "return ({}, [])",
        SUM, f"{{k: v for paid, _ in parts for k, v in paid.items()}} | {{{what}: cost}}",
        "key=lambda one: one[0]", "key=lambda one: sum(one[0].values())",
    )  # fmt: skip


mutants(
    COVER,
    maximal_munch=maximal_munch,
    one_by_one=one_by_one,
    cheapest_at_the_root=_greedy("min(fits, key=lambda n: (patterns[n][1], -sum(key(n))))"),
    cheapest_for_each_operation=_greedy("max(fits, key=lambda n: key(n)[0] / patterns[n][1])"),
    # the least cost for each node of the tree that a pattern covers
    the_cheapest_for_what_it_covers=_greedy(
        "max(fits, key=lambda n: sum(key(n)) / patterns[n][1])"
    ),
    # the pattern's cost and the cheapest pattern for each subtree that it leaves
    one_level_ahead=_greedy(
        "min(fits, key=lambda n: patterns[n][1] + sum(min(c for p, c in patterns.values() if "
        "match(p, hole) is not None) for hole in fits[n] if not isinstance(hole, str)))"
    ),
    nothing_for_a_register=(WHOLE, f"{WHOLE} or None"),
    fewest_tiles=("cost + sum", "1 + sum"),
    the_root_first=("[*names, name]", "[name, *names]"),
    the_right_operand_first=("for _, inside in parts", "for _, inside in reversed(parts)"),
    without_the_leaves=("[*names, name]", "names if isinstance(pattern, tuple) and "
                        "len(pattern) == 1 else [*names, name]"),
    the_cost_and_the_names=("{})[1]", "{})"),
    without_keeping_anything=("if id(tree) not in known", "if True"),
    in_whole_numbers=("cost + sum", "int(cost) + sum"),
    to_one_decimal=("cost + sum", "round(cost, 1) + sum"),
    to_three_decimals=("cost + sum", "round(cost, 3) + sum"),
    nothing_costs_a_million=("cost + sum", "min(cost, 10 ** 6) + sum"),
    # everything that the program has computed is there for the next one who needs it
    equal_subtrees_are_paid_once=_paid_once("tree"),
    a_number_is_paid_once=_paid_once("tree if tree[0] == 'const' else object()"),
    only_the_names_of_the_machine=(WHOLE, """try:
        return _cheapest(tree, {n: t for n, t in patterns.items() if n in PATTERNS}, {})[1]
    except ValueError:  # something needs another pattern
        return _cheapest(tree, patterns, {})[1]"""),
    remembered_between_calls=("def cover(", "KEPT = {}\n\ndef cover(", "patterns, {})",
                              "patterns, KEPT)",
                              *BY_VALUE),
)  # fmt: skip
alternatives(
    COVER,
    kept_by_value=BY_VALUE,
    the_last_of_the_cheapest=("in patterns.items():", "in reversed(patterns.items()):"),
    as_a_generator=(WHOLE, WHOLE.replace("return", "yield from")),
)


@alternative(COVER)
def bottom_up(tree, patterns):
    """Costs from the leaves to the root, then the names from the root to the leaves."""
    cost, choice = {}, {}

    def label(at):
        if isinstance(at, str):
            cost[id(at)] = 0
            return
        for child in at[1:] if at[0] not in ("load", "broadcast", "const") else ():
            if id(child) not in cost:
                label(child)
        options = []
        for name, (pattern, price) in patterns.items():
            if (holes := match(pattern, at)) is not None:
                total = price + sum(0 if isinstance(h, str) else cost[id(h)] for h in holes)
                options.append((total, name, holes))
        best = min(options, key=lambda one: one[0])
        cost[id(at)], choice[id(at)] = best[0], best[1:]

    def names(at):
        if isinstance(at, str):
            return []
        name, holes = choice[id(at)]
        return [n for hole in holes for n in names(hole)] + [name]

    if isinstance(tree, str):
        return []
    label(tree)
    return names(tree)


ANY = "of several cheapest covers, any will do"
equivalent(COVER, "return (0, [])", "return (1, [])", because="all covers have the same registers")
equivalent(COVER, "return (0, [])", "return (-1, [])", because="all covers have the same registers")
equivalent(COVER, "in patterns.items()", "reversed(", because=ANY)
equivalent(COVER, "covers.append((cost", "covers.insert(0, (cost", because=ANY)
equivalent(COVER, "min(covers, key=", "min(covers)", because=ANY)
equivalent(COVER, "known[id(tree)] =", "known.setdefault(", because="it is not in known")
