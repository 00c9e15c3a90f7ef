"""Checks of unit 1 for answers that are read off graphs, forms and tables.

What our answers are, only the grader and the open edition know (`ours`). Next room: numbers.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, ours

# ── u01.fx ──

PAIRS = 'A dict with a pair for each of "simple", "twice", "spare", "six", "noise" and "gate"'
COUNT = "how many nodes the graph has as recorded"
ALL_NODES = "Inputs, `scale` and the output are nodes, too"
SHORTEN = "Which passes shorten the graphs that torch.fx records of the six programs?"
FORM = 'the passes that take nodes away from it, such as {"mine": (7, "fold dce")}, or "" for none'
ALONE = "Each pass is asked alone, about the graph as recorded, and the result stays what it was"
SAME = "the result stays what it was"
FOLD = "fold computes, when the program is compiled, whatever needs no input"
DCE = "dce drops what no output needs"
CSE = "cse computes once what the graph computes twice from the same operands"
PASSES = ("fold", "dce", "cse")

_FX = ("simple", "twice", "spare", "six", "noise", "gate")
# (program, pass): what somebody may have thought who names it, or leaves it out
_WHY = {
    (
        "simple",
        "cse",
    ): "`a` is read twice, and computed once: there is no second node that computes it.",
    ("simple", "fold"): "Every operation of `simple` needs x.",
    ("twice", "cse"): "Two nodes of `twice` have the same operation and the same operands.",
    ("spare", "dce"): "torch.fx writes down what Python performs, read or not: look at num_users.",
    ("six", "fold"): "Python multiplied 2.0 by 3.0 before torch.fx saw anything: print the graph.",
    (
        "noise",
        "cse",
    ): "Two calls of rand_like give two sets of numbers; one call for both changes the result.",
    (
        "gate",
        "fold",
    ): "A parameter is no input: what needs only weights and constants can be computed early.",
    ("gate", "dce"): "Who reads the tanh?",
    ("gate", "cse"): "The module `fc` is called twice with the same operand.",
}
_RULES = {"fold": FOLD, "dce": DCE, "cse": CSE}


@checks("u01.fx", spec=[PAIRS, FORM])
def has_six_pairs(fx):
    """A pair of a number and a text for each of the six."""
    pairs(fx())
    return "six pairs of a number and a text"


@checks("u01.fx", spec=[COUNT, ALL_NODES])
def counts_the_nodes(fx):
    """The number of nodes of each graph, as torch.fx lists them."""
    found, right = pairs(fx()), pairs(ours("u01.fx"))
    for name, (count, _) in found.items():
        if count != right[name][0]:
            raise Wrong(
                f"The graph of {name} has a different number of nodes. Print it and count them; "
                "the `return` is one of them.",
                got=f"{count} nodes",
                spec=ALL_NODES,
            )
    return "the nodes of six graphs"


@checks("u01.fx", spec=[SHORTEN, ALONE, FOLD, DCE, CSE])
def knows_which_passes_apply(fx):
    """The passes that shorten each graph."""
    found, right = pairs(fx()), pairs(ours("u01.fx"))
    for name, (_, passes) in found.items():
        if passes != right[name][1]:
            raise _not_these(name, passes, passes ^ right[name][1])
    return "the passes that shorten each graph"


def _not_these(name: str, passes: set[str], wrong: set[str]) -> Wrong:
    """Said with a reason, where one pass more or less would be right."""
    said = " ".join(sorted(passes)) or "none"
    if len(wrong) == 1:
        (one,) = wrong
        why = _WHY.get((name, one), "")
        rule = SAME if (name, one) == ("noise", "cse") else _RULES[one]
        return Wrong(f"{name}: ask again about {one}. {why}".strip(), got=said, spec=rule)
    return Wrong(f"These are not the passes that shorten {name}.", got=said, spec=ALONE)


def pairs(got: Any) -> dict[str, tuple[int, set[str]]]:
    """The answer, checked for its form; the passes as a set."""
    if not isinstance(got, Mapping) or set(got) != set(_FX):
        raise Wrong(
            f"The answer must be a dict with the keys {', '.join(_FX)}.",
            got=repr(got)[:200],
            spec=PAIRS,
        )
    found = {}
    for name, pair in got.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise Wrong(
                f"For {name}, the answer must have a number of nodes and a text.",
                got=repr(pair)[:200],
                spec=FORM,
            )
        count, text = pair
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, (bool, np.bool_))
        words = str(text).replace(",", " ").split()
        if not whole or not isinstance(text, str) or not set(words) <= set(PASSES):
            raise Wrong(
                f"For {name}, the answer must have a number of nodes, and the names of passes.",
                got=repr(pair)[:200],
                spec=FORM,
            )
        found[name] = int(count), set(words)
    return found


# ── u01.boundaries ──

FIRST = "the first form of that compiler of which this can be said"
SETTLES = "Which form of the product is the first to settle order, layout and shape?"
SIX = (
    'The answer is a dict with six keys, "ours order", "ours layout", "ours shape" and the same for'
)
ORDER = "it says which of the 1,024 multiplications comes first, because loops stand one inside"
LAYOUT = "an offset into w's memory is written out in it, such as `16*k + n`"
OPEN = "An index such as `x1[k, n]`, or a reshape of a buffer, names an element"
SHAPE = "nothing in it has the shape 4 by 16 any more; x is an address, or a block of 64"
FORMS = {
    "ours": (
        "torch.export",
        "graph",
        "loops",
        "scheduled loops",
        "LLVM IR",
        "LLVM IR, optimized",
        "assembly",
    ),
    "tinygrad": ("tensors", "kernel", "linear", "source"),
}
_QUESTIONS = {"order": ORDER, "layout": LAYOUT, "shape": SHAPE}
_BOUNDARIES = tuple(f"{compiler} {question}" for compiler in FORMS for question in _QUESTIONS)
_EARLIER = {
    "ours layout": "An index names an element; look for the form that packs w.",
    "tinygrad layout": "It names a buffer and its shape; no offset is written in it.",
    "ours shape": "Its buffers still have types such as f32[4,16].",
    "tinygrad order": "Its ranges are three values; none of them stands inside another.",
}


@checks("u01.boundaries", spec=[SIX, FIRST])
def names_six_forms(boundaries):
    """Six names of forms."""
    six_forms(boundaries())
    return "six names of forms"


@checks("u01.boundaries", spec=[SETTLES, FIRST, ORDER, LAYOUT, OPEN, SHAPE])
def are_the_first_forms(boundaries):
    """The first form that settles it."""
    found, right = six_forms(boundaries()), six_forms(ours("u01.boundaries"))
    for key, name in found.items():
        if name != right[key]:
            why = _too(key, name, right[key])
            raise Wrong(f"{key}: {why}", got=name, spec=_QUESTIONS[key.split()[1]])
    return "the first form that settles each question"


def _too(key: str, name: str, right: str) -> str:
    """Is the right form earlier or later?"""
    forms = FORMS[key.split()[0]]
    if forms.index(right) < forms.index(name):
        return f"this holds of {name}, and it is not the first form of which it does."
    return f"this does not yet hold of {name}. {_EARLIER.get(key, '')}".strip()


def six_forms(got: Any) -> dict[str, str]:
    """The answer, checked for its form; the case of letters does not count."""
    if not isinstance(got, Mapping) or set(got) != set(_BOUNDARIES):
        raise Wrong(
            f"The answer must be a dict with the keys {', '.join(_BOUNDARIES)}.",
            got=repr(got)[:200],
            spec=SIX,
        )
    found = {}
    for key in _BOUNDARIES:
        forms = {form.lower(): form for form in FORMS[key.split()[0]]}
        said = str(got[key]).strip().lower()
        if said not in forms:
            raise Wrong(
                f"{key} must be one of: {'; '.join(forms.values())}.",
                got=repr(got[key])[:200],
                spec=FIRST,
            )
        found[key] = forms[said]
    return found


# ── u01.llvm ──

COUNTERPART = (
    'a dict from each number of the left table, "1" to "12", to the letter of its counterpart'
)
TWICE = "No letter is used twice; two of them are nobody's counterpart"
FALSE = 'One more key, "false", has the letters of the sentences below the tables that are false'
CORRESPONDS = (
    "What corresponds to LLVM and clang in an ML compiler, and which of the sentences are false?"
)
_LLVM = (*(str(number) for number in range(1, 13)), "false")


@checks("u01.llvm", spec=[COUNTERPART, TWICE, FALSE])
def fills_the_table(llvm):
    """A letter for each number, each once, and letters of sentences."""
    letters(llvm())
    return "thirteen entries of letters"


@checks("u01.llvm", spec=[CORRESPONDS, COUNTERPART, FALSE])
def is_the_right_table(llvm):
    """The counterparts, and the false sentences."""
    found, right = letters(llvm()), letters(ours("u01.llvm"))
    wrong = [key for key in _LLVM if found[key] != right[key]]
    if wrong == ["false"]:
        raise Wrong(
            "The table is right; these are not the false sentences. For each of the eight, look "
            "for a program on which it would fail.",
            got=found["false"] or "none",
            spec=FALSE,
        )
    if wrong:
        rows = ", ".join(key for key in wrong if key != "false")
        raise Wrong(
            f"Not the counterpart, in these rows: {rows}.",
            got=", ".join(f"{key} {found[key]}" for key in wrong),
            spec=COUNTERPART,
        )
    return "twelve counterparts and the false sentences"


def letters(got: Any) -> dict[str, str]:
    """The answer, checked for its form; the letters of the false sentences in order."""
    if not isinstance(got, Mapping) or {str(key) for key in got} != set(_LLVM):
        raise Wrong(
            'The answer must be a dict with the keys "1" to "12" and "false".',
            got=repr(got)[:200],
            spec=COUNTERPART,
        )
    found = {}
    for key, value in got.items():
        said = "".join(value) if isinstance(value, (list, tuple, set)) else str(value)
        known = "OPQRSTUV" if str(key) == "false" else "ABCDEFGHIJKLMN"
        kept = sorted(letter for letter in said.upper() if letter.isalpha())
        if not set(kept) <= set(known) or (str(key) != "false" and len(kept) != 1):
            raise Wrong(
                f"{key}: letters of {known[0]} to {known[-1]}" + ", one." * (known[0] == "A"),
                got=repr(value)[:200],
                spec=FALSE if str(key) == "false" else COUNTERPART,
            )
        found[str(key)] = "".join(kept)
    rows = [found[key] for key in found if key != "false"]
    if len(set(rows)) < len(rows):
        raise Wrong("A letter appears in two rows.", got=", ".join(rows), spec=TWICE)
    return found
