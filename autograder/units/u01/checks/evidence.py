"""Checks of unit 1 for answers that are read off graphs, forms and tables.

Our answers stand only in the grader and in the open edition (`ours`). So each check looks at the
form of an answer first, which is all that a student's edition can do. Next room: numbers.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, ours


def keyed(got: Any, keys: Iterable[str], words: str, spec: str) -> dict[str, Any]:
    """A dict with these keys, as texts."""
    if not isinstance(got, Mapping) or {str(key) for key in got} != set(keys):
        raise Wrong(f"The answer must be a dict with the keys {words}.", got=repr(got), spec=spec)
    return {str(key): value for key, value in got.items()}


# ── u01.fx ──

PAIRS = 'A dict with a pair for each of "simple", "twice", "spare", "six", "noise" and "gate"'
COUNT = "how many nodes the graph has as recorded"
ALL_NODES = "Inputs, `scale` and the output are nodes, too"
SHORTEN = "Which passes shorten the graphs that torch.fx records of the six programs?"
FORM = 'the passes that take nodes away from it, such as {"mine": (7, "fold dce")}, or "" for none'
ALONE = "Each pass runs alone, on the graph as recorded, and the result stays what it was"
SAME = "the result stays what it was"
RULES = {
    "fold": "fold computes, when the program is compiled, whatever needs no input",
    "dce": "dce drops what no output needs",
    "cse": "cse computes once what the graph computes twice from the same operands",
}
FX = ("simple", "twice", "spare", "six", "noise", "gate")
# a program and a pass: why it was right or wrong to name it
WHY = {
    "simple cse": "`a` is read twice, and computed once: there is no second node that computes it.",
    "simple fold": "Every operation of `simple` needs x.",
    "twice cse": "Two nodes of `twice` have the same operation and the same operands.",
    "spare dce": "torch.fx writes down what Python performs, read or not: look at num_users.",
    "six fold": "Python multiplied 2.0 by 3.0 before torch.fx saw anything: print the graph.",
    "noise cse": "Two calls of rand_like draw two sets of numbers; one call changes the result.",
    "gate fold": "A parameter is no input: what needs weights and constants only is known early.",
    "gate dce": "What reads the tanh?",
    "gate cse": "The module `fc` is called twice with the same operand.",
}


@checks("u01.fx", spec=[PAIRS, FORM, COUNT, ALL_NODES])
def counts_the_nodes(fx):
    """The number of nodes of each graph, as torch.fx lists them."""
    answer, right = pairs(fx()), pairs(ours("u01.fx"))
    for name, (count, _) in answer.items():
        if count != right[name][0]:
            raise Wrong(f"The graph of {name} has a different number of nodes. Print it and count "
                        "them; the `return` is one of them.", got=f"{count} nodes",
                        spec=ALL_NODES)  # fmt: skip
    return "the nodes of six graphs"


@checks("u01.fx", spec=[SHORTEN, ALONE, *RULES.values()])
def knows_which_passes_apply(fx):
    """The passes that shorten each graph."""
    answer, right = pairs(fx()), pairs(ours("u01.fx"))
    for name, (_, passes) in answer.items():
        if wrong := passes ^ right[name][1]:
            raise _not_these(name, " ".join(sorted(passes)) or "none", wrong)
    return "the passes that shorten each graph"


def _not_these(name: str, passes: str, wrong: set[str]) -> Wrong:
    """Said with a reason, where one pass more or less would be right."""
    if len(wrong) > 1:
        return Wrong(f"These are not the passes that shorten {name}.", got=passes, spec=ALONE)
    (one,) = wrong
    rule = SAME if (name, one) == ("noise", "cse") else RULES[one]
    problem = f"{name}: ask again about {one}. {WHY.get(f'{name} {one}', '')}"
    return Wrong(problem.strip(), got=passes, spec=rule)


def pairs(got: Any) -> dict[str, tuple[int, set[str]]]:
    """The answer, checked for its form; the passes as a set."""
    counted = {}
    for name, pair in keyed(got, FX, ", ".join(FX), PAIRS).items():
        count, text = pair if isinstance(pair, (tuple, list)) and len(pair) == 2 else (None, None)
        is_number = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        words = set(text.replace(",", " ").split()) if isinstance(text, str) else {""}
        if not is_number or not words <= set(RULES):
            problem = f"For {name}, the answer must have a number of nodes, and the names of passes"
            raise Wrong(f"{problem} in a text.", got=repr(pair), spec=FORM)
        counted[name] = int(count or 0), words
    return counted


# ── u01.boundaries ──

FIRST = "the first form of that compiler of which this can be said"
SETTLES = "Which form of the product is the first to settle order, layout and shape?"
SIX = 'a dict with six keys, "ours order", "ours layout", "ours shape" and the same for'
OPEN = "An index such as `x1[k, n]`, or a reshape of a buffer, names an element"
QUESTIONS = {
    "order": "it says which of the 1,024 multiplications comes first",
    "layout": "an offset into w's memory is written out in it, such as `16*k + n`",
    "shape": "nothing in it has the shape 4 by 16 any more; x is an address, or a block of 64",
}
FORMS = {
    "ours": ("torch.export", "graph", "loops", "scheduled loops", "LLVM IR", "LLVM IR, optimized",
             "assembly"),
    "tinygrad": ("tensors", "kernel", "linear", "source"),
}  # fmt: skip
BOUNDARIES = tuple(f"{compiler} {question}" for compiler in FORMS for question in QUESTIONS)
EARLIER = {
    "ours layout": "An index names an element; look for the form that packs w.",
    "tinygrad layout": "It names a buffer and its shape; no offset is written in it.",
    "ours shape": "Its buffers still have types such as f32[4,16].",
    "tinygrad order": "Its ranges are three values; none of them stands inside another.",
}


@checks("u01.boundaries", spec=[SIX, SETTLES, FIRST, OPEN, *QUESTIONS.values()])
def are_the_first_forms(boundaries):
    """The first form that settles it."""
    answer, right = six_forms(boundaries()), six_forms(ours("u01.boundaries"))
    for key, name in answer.items():
        if name != right[key]:
            why = _too(key, name, right[key])
            raise Wrong(f"{key}: {why}", got=name, spec=QUESTIONS[key.split()[1]])
    return "the first form that settles each question"


def _too(key: str, name: str, right: str) -> str:
    """Is the right form earlier or later?"""
    forms = FORMS[key.split()[0]]
    if forms.index(right) < forms.index(name):
        return f"this holds of {name}, and it is not the first form of which it does."
    return f"this does not yet hold of {name}. {EARLIER.get(key, '')}".strip()


def six_forms(got: Any) -> dict[str, str]:
    """The answer, checked for its form; the case of letters does not count."""
    form_of = {}
    for key, word in keyed(got, BOUNDARIES, ", ".join(BOUNDARIES), SIX).items():
        forms = {form.lower(): form for form in FORMS[key.split()[0]]}
        if str(word).strip().lower() not in forms:
            problem = f"{key} must be one of: {'; '.join(forms.values())}."
            raise Wrong(problem, got=repr(word), spec=FIRST)
        form_of[key] = forms[str(word).strip().lower()]
    return form_of


# ── u01.llvm ──

COUNTERPART = 'a dict from each number of the left table, "1" to "12", to the letter of its'
TWICE = "No letter is used twice; two letters are left over"
FALSE = 'One more key, "false", holds the letters of the sentences below the tables that are false'
CORRESPONDS = "What corresponds to LLVM and clang in an ML compiler"
ROWS = tuple(map(str, range(1, 13)))


@checks("u01.llvm", spec=[CORRESPONDS, COUNTERPART, TWICE, FALSE])
def is_the_right_table(llvm):
    """The counterparts, each letter once, and the false sentences."""
    answer, right = letters(llvm()), letters(ours("u01.llvm"))
    wrong = [row for row in ROWS if answer[row] != right[row]]
    if wrong:
        raise Wrong(f"These rows have another counterpart: {', '.join(wrong)}.",
                    got=", ".join(f"{row} {answer[row]}" for row in wrong),
                    spec=COUNTERPART)  # fmt: skip
    if answer["false"] != right["false"]:
        raise Wrong("The table is right; these are not the false sentences. For each of the eight, "
                    "look for a program on which it would fail.", got=answer["false"] or "none",
                    spec=FALSE)  # fmt: skip
    return "twelve counterparts and the false sentences"


def letters(got: Any) -> dict[str, str]:
    """The answer, checked for its form; the letters of the false sentences in order."""
    letters_of = {}
    words = '"1" to "12" and "false"'
    for key, value in keyed(got, (*ROWS, "false"), words, COUNTERPART).items():
        text = "".join(value) if isinstance(value, (list, tuple, set)) else str(value)
        known, most, spec = ("OPQRSTUV", 8, FALSE) if key == "false" else (
            "ABCDEFGHIJKLMN", 1, COUNTERPART)  # fmt: skip
        kept = sorted(letter for letter in text.upper() if letter.isalpha())
        if not set(kept) <= set(known) or (most == 1 and len(kept) != 1):
            what = f"{key}: {'one letter' if most == 1 else 'letters'} of {known[0]} to {known[-1]}"
            raise Wrong(f"{what} expected.", got=repr(value), spec=spec)
        letters_of[key] = "".join(kept)
    rows = [letters_of[row] for row in ROWS]
    if len(set(rows)) < len(rows):
        raise Wrong("A letter appears in two rows.", got=", ".join(rows), spec=TWICE)
    return letters_of
