"""What a pass needs and wants, what it gives and ends: the order of passes as data.

    @contract(needs=["plain ops"])                            # in fusion/fuse.py
    @contract(gives=["plain ops"], ends=["composites"])       # in prepare/decompose.py
    @contract(wants=["composites"])                           # in clean/bn_fold.py

    misplaced([fuse, decompose])   ->   the pass 'fuse' needs plain ops (...), and 'decompose',
                                        which gives that, runs after it: put 'decompose' before ...
    idle([decompose, bn_fold])     ->   the pass 'bn_fold' wants composites (...), and ...

Without what it *needs*, a pass makes a program that cannot be compiled, and the manager refuses
that order. Without what it *wants*, it finds less to do: that is a poor order and no wrong one, and
only our own pipelines are held to it. Both may hold from the start, so a fact is missed only if an
earlier pass has ended it, or if a later one gives it. A pass that says nothing may stand anywhere.
Next room: `bodies.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from course_lib.ir.graph.graph import Graph

Pass = Callable[[Graph], Graph]
P = TypeVar("P", bound=Callable[..., Any])  # a pass, whatever else it takes

FACTS = {  # what may be true of a graph, between two passes
    "composites": "batch_norm, softmax and their like are one node each",
    "plain ops": "composites are spelled out, and padding is an op of its own",
    "one layout": "every image lies in nchw",
    "chosen layouts": "each convolution has the layout that it likes, between two relayouts",
    "no duplicates": "what reads the same value reads the same node",
    "no groups": "every node is one op: no rule looks into a kernel",
    "groups": "the nodes of a kernel are one node",
}


@dataclass(frozen=True)
class Contract:
    """Facts that have to hold before a pass, those that should, and what it makes true, untrue."""

    needs: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = {*self.needs, *self.wants, *self.gives, *self.ends} - FACTS.keys()
        if unknown:
            raise ValueError(f"a contract is about {', '.join(FACTS)}; not {', '.join(unknown)}")


def contract(
    needs: Sequence[str] = (),
    wants: Sequence[str] = (),
    gives: Sequence[str] = (),
    ends: Sequence[str] = (),
) -> Callable[[P], P]:
    """A decorator: the pass says this of itself. It stands above all others, such as `@exercise`,
    so that it also holds for a student's function in the same place."""
    claims = Contract(tuple(needs), tuple(wants), tuple(gives), tuple(ends))

    def state(pass_: P) -> P:
        vars(pass_)["contract"] = claims
        return pass_

    return state


def contract_of(one: Pass) -> Contract:
    """What a pass says of itself; a pass of a student may say nothing."""
    return getattr(one, "contract", None) or Contract()


def pass_name(one: Pass) -> str:
    return getattr(one, "__name__", None) or type(one).__name__


def misplaced(passes: Sequence[Pass]) -> str | None:
    """What cannot work in this order, in words that name two passes; None if nothing is wrong."""
    return _missed(passes, "needs", lambda pass_: contract_of(pass_).needs)


def idle(passes: Sequence[Pass]) -> str | None:
    """Which pass could do more elsewhere, in words that name two passes; None if none could."""
    return _missed(passes, "wants", lambda pass_: contract_of(pass_).wants)


def _missed(
    passes: Sequence[Pass], verb: str, asked: Callable[[Pass], tuple[str, ...]]
) -> str | None:
    for place, pass_ in enumerate(passes):
        for fact in asked(pass_):
            name, missing = pass_name(pass_), f"{verb} {fact} ({FACTS[fact]})"
            last = _changed(fact, reversed(passes[:place]))
            if last is None:
                giver = _changed(fact, passes[place + 1 :])
                if giver is not None and fact in contract_of(giver).gives:
                    theirs = pass_name(giver)
                    return (
                        f"the pass {name!r} {missing}, and {theirs!r}, which gives that, runs "
                        f"after it: put {theirs!r} before {name!r}"
                    )
            elif fact in contract_of(last).ends:
                theirs = pass_name(last)
                return (
                    f"the pass {name!r} {missing}, and {theirs!r}, which runs before it, ends "
                    f"that: put {name!r} before {theirs!r}"
                )
    return None


def _changed(fact: str, passes: Iterable[Pass]) -> Pass | None:
    """The first of these passes that gives or ends a fact."""
    contracts = ((pass_, contract_of(pass_)) for pass_ in passes)
    return next((pass_ for pass_, its in contracts if fact in (*its.gives, *its.ends)), None)
