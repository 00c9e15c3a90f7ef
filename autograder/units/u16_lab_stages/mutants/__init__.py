"""Wrong and right answers of the lab of unit 16. Here: softmaxes. Next room: log.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.peers.align.rows import WORDS

BOTH, ONE = "for e, r in (reads, reads[::-1])", "rows[one].get('value') == 1"
SUM, SAME = "rows[s]['op'] in _SUM", "rows[s]['reads'] == [e]"
EXP = "_word(rows[e]) not in _EXP"
mutants(
    "u16_lab_stages.found",
    divisions_alone=("word in _MULTIPLY", "False"),
    products_alone=("word in _DIVIDE else []", "False else []"),
    called_so_alone=("for e, s in pairs:", "for e, s in []:"),
    parts_alone=("word == 'softmax'", "False"),
    one_order_of_a_product=(BOTH, "for e, r in (reads,)"),
    the_other_order_of_a_product=(BOTH, "for e, r in (reads[::-1],)"),
    any_reciprocal=(ONE, "True"),
    any_constant=(ONE, "rows[one]['op'] == 'constant'"),
    any_constant_or_input=("if one is not None and rows[one].get('value') == 1", "if True"),
    any_reduction=(SUM, "rows[s]['op'].startswith(('reduce', 'R.'))"),
    a_sum_of_anything=(SAME, "True"),
    a_sum_of_any_exponential=(
        SAME,
        "rows[s]['reads'][0] is not None and _word(rows[rows[s]['reads'][0]]) in _EXP",
    ),
    an_addition_is_a_sum=(SUM, "_word(rows[s]).split()[-1] in ('add', 'addf', '+', 'sum')", SAME,
                          "e in rows[s]['reads']"),
    anything_by_its_sum=(EXP, "False"),
    either_way_up=("pairs = [(reads[0], reads[1])]", "pairs = [(reads[0], reads[1]), (reads[1], "
                   "reads[0])]"),
    the_sum_first=("[rows[e]['line'], rows[s]['line']]", "[rows[s]['line'], rows[e]['line']]"),
    positions_for_lines=("[rows[e]['line'], rows[s]['line']]", "[e, s]"),
    the_line_of_the_exponential=("places[row['line']] = [rows", "places[rows[e]['line']] = [rows"),
    an_operation_has_its_own_line=("places[row['line']] = []", "places[row['line']] = "
                                   "[row['line']]"),
    words_of_one_compiler=("return row['op'].split('.')[-1]", "return row['op'].replace("
                           "'stablehlo.', '')"),
    sums_of_stablehlo_alone=(SUM, "rows[s]['op'] in _SUM[:2]"),
)  # fmt: skip

NAMES = {kind: {words[kind] for words in WORDS.values()} - {""} for kind in WORDS["Relax"]}


@alternative("u16_lab_stages.found")
def from_the_sums_on(rows):
    """From each sum of an exponential to who reads it."""
    kind = [next((k for k, words in NAMES.items() if row["op"] in words), "") for row in rows]
    found = {row["line"]: () for row, k in zip(rows, kind, strict=True) if k == "softmax"}
    for s, row in enumerate(rows):
        e = row["reads"][0] if kind[s] == "sum" else None
        if e is None or kind[e] != "exp":
            continue
        parts = (rows[e]["line"], row["line"])
        for k, user in enumerate(rows):
            if kind[k] == "divide" and user["reads"] == [e, s]:
                found[user["line"]] = parts
            if kind[k] == "divide" and user["reads"][1] == s:
                one = user["reads"][0]
                if one is not None and rows[one].get("value") == 1.0:
                    for product, last in enumerate(rows):
                        if kind[product] == "multiply" and last["reads"] in ([e, k], [k, e]):
                            found[last["line"]] = parts
    return found


@alternative("u16_lab_stages.found")
def with_a_helper(rows):
    def is_a(k, what):
        return k is not None and rows[k]["op"] in NAMES[what]

    def below(k):
        """Of which sum it is the reciprocal."""
        if is_a(k, "divide"):
            one, s = rows[k]["reads"]
            return s if one is not None and rows[one].get("value", 0) == 1 else None
        return None

    result = {}
    for k, row in enumerate(rows):
        tries = []
        if is_a(k, "softmax"):
            result[row["line"]] = []
        elif is_a(k, "divide"):
            tries = [row["reads"]]
        elif is_a(k, "multiply"):
            a, b = row["reads"]
            tries = [(a, below(b)), (b, below(a))]
        for e, s in tries:
            if is_a(e, "exp") and is_a(s, "sum") and e in rows[s]["reads"]:
                result[row["line"]] = [rows[j]["line"] for j in (e, s)]
    return result


alternatives(
    "u16_lab_stages.found",
    a_tuple_of_lines=("[rows[e]['line'], rows[s]['line']]", "(rows[e]['line'], rows[s]['line'])"),
)

for _old, _new, _why in [
    ("continue", "break", "where both operands are divisions, none is an exponential"),
    ("_MULTIPLY = (", "_MULTIPLY = (", "it is only asked whether a word is among them"),
    ("_SUM = (", "_SUM = (", "it is only asked whether a word is among them"),
    ("for row in rows:", "for row in reversed(list(rows)):", "no result depends on another one"),
    ("for e, s in pairs:", "for e, s in reversed(list(pairs)):", "at most one of them is right"),
    ("for e, r in (reads, reads[::-1]):", "for e, r in reversed(", "both orders are tried"),
    ("for e, r in (reads, reads[::-1]):", "for e, r in (reads[::-1], reads):",
     "both orders are tried"),
    ("pairs.append((e, s))", "pairs.insert(0, (e, s))", "at most one of them is right"),
    ("places[row['line']] = ", "places.setdefault(row['line'], ",
     "rows of one line have the same parts"),
]:  # fmt: skip
    equivalent("u16_lab_stages.found", _old, _new, because=_why)
