"""What a pass may be told: a search may have found better than the pass decides by itself.

    @asks("groups")                # in fusion/fuse.py
    asked(fuse)   ->   "groups"

The pass does not know who answers (`course_lib/targets/tuned.py` does), and a pass that asks for
nothing is left as it is. Next room: `manager.py`, which runs passes.
"""

from __future__ import annotations

from collections.abc import Callable

from course_lib.passes.infra.contract import P, Pass

KINDS = ("convolutions", "groups")  # those that Winograd computes; nodes that share a kernel


def asks(kind: str) -> Callable[[P], P]:
    """A decorator, above all others: the pass asks for this kind of choices."""
    assert kind in KINDS, f"a pass asks for {' or '.join(KINDS)}, not for {kind}"

    def mark(one: P) -> P:
        vars(one)["asks"] = kind
        return one

    return mark


def asked(one: Pass) -> str:
    """The kind that a pass asks for; empty: none."""
    return getattr(one, "asks", "")
