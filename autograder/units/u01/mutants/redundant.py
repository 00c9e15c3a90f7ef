"""Answers to unit 1 about what need not run: wrong ones, and right ones that are not ours."""

from __future__ import annotations

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from autograder.units.u01.exercises import redundant

NAME = "u01.redundant"
DATA = "{'Shape': [], 'CastLike': operands[:1]}.get(op, operands)"
OTHERS, CONV = "varies.isdisjoint([*weights[1:], *operands[1:]])", "before == 'Conv'"
ours = edited(redundant)  # a copy, whatever is plugged in

mutants(
    NAME,
    reads_types_as_data=(DATA, "operands"),
    forgets_other_readers=("readers[operands[0]] == 1 and ", ""),
    forgets_the_weights=(f" and {OTHERS}", ""),
    forgets_the_outputs=(" and operands[0] not in outputs", ""),
    constants_only=lambda lines, inputs, outputs: {r: "fixed" for r, _, o in lines if not o},
    all_copies=("return reasons",
                "return reasons | {r: 'copy' for r, op, _ in lines if op == 'Identity'}"),
    # the convolution must stand in the very line before
    the_line_before=(CONV, f"{CONV} and [*line_of][[*line_of].index(result) - 1] == operands[0]"),
    # a ConvTranspose and a Gemm have weights, too; the text says Conv
    any_convolution=(CONV, "before in ('Conv', 'ConvTranspose', 'Gemm')"),
    the_first_output=("not in outputs", "not in outputs[:1]"),  # there may be several
)  # fmt: skip
alternatives(NAME, with_the_parts_together=(OTHERS, "not varies & {*weights[1:], *operands[1:]}"))


@mutant(NAME)
def through_copies(lines, inputs, outputs):
    """A copy of a convolution is taken for the convolution."""
    copies = {result: operands[0] for result, op, operands in lines if op == "Identity"}
    same = [(r, op, [copies.get(n, n) for n in o]) for r, op, o in lines if op != "Identity"]
    absorbed = {r: why for r, why in ours(same, inputs, outputs).items() if why == "absorbed"}
    return ours(lines, inputs, outputs) | absorbed


@alternative(NAME)
def with_patterns(lines, inputs, outputs):
    """The three reasons as cases of a match statement."""
    varies, written, reasons = set(inputs), {}, {}
    reads = [name for _, _, operands in lines for name in set(operands)]
    for result, op, operands in lines:
        written[result] = (op, *operands)
        match written[result]:
            case "Shape", _:
                data = set()
            case "CastLike", first, *_:
                data = {first}
            case _:
                data = set(operands)
        if not varies & data:
            reasons[result] = "fixed"
            continue
        varies.add(result)
        match op, written.get(operands[0]), operands[1:]:
            case "Identity", *_:
                reasons[result] = "copy"
            case "BatchNormalization", ("Conv", _, *weights), rest:
                alone = reads.count(operands[0]) == 1 and operands[0] not in outputs
                if alone and not varies & {*weights, *rest}:
                    reasons[result] = "absorbed"
    return reasons


@alternative(NAME)
def by_asking_backwards(lines, inputs, outputs):
    written = {result: (op, list(operands)) for result, op, operands in lines}

    def varies(name):
        op, operands = written.get(name, ("", []))
        data = {"Shape": [], "CastLike": operands[:1]}.get(op, operands)
        return name in inputs or any(map(varies, data))

    def reason(result, op, operands):
        if not varies(result):
            return "fixed"
        if op == "Identity":
            return "copy"
        before, weights = written.get(operands[0], ("", [])) if operands else ("", [])
        if (op, before) != ("BatchNormalization", "Conv") or operands[0] in outputs:
            return None
        alone = sum(operands[0] in names for _, _, names in lines) == 1
        return "absorbed" if alone and not any(map(varies, weights[1:] + operands[1:])) else None

    reasons = {line[0]: reason(line[0], line[1], list(line[2])) for line in lines}
    return {result: why for result, why in reasons.items() if why}


SINGLE = "no two lines have the same result"
for _old, _new, _why in [
    ("('', []))", "([], ''))",
     "what is no line has another op than Conv, and then nobody asks for its operands"),
    ("[*weights[1:], *operands[1:]]", "[*operands[1:], *weights[1:]]",
     "names are looked up in any order"),
    *((f"reasons[result] = '{r}'", "setdefault", SINGLE) for r in ("fixed", "copy", "absorbed")),
    ("line_of = {", "in list(lines)[:-1]}", "behind the last line stands no norm"),
    ("readers = Counter(", "in list(lines)[1:] for name in set(operands)",
     "the first line reads no result of another line"),
    ("for name in set(operands)", "for name in operands",
     "a norm that reads its Conv twice has an operand that is not fixed"),
]:  # fmt: skip
    equivalent(NAME, _old, _new, because=_why)
