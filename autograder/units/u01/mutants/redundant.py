"""Answers to unit 1 about what need not run: wrong ones, and right ones that are not ours."""

from __future__ import annotations

from itertools import pairwise

from autograder.check.framework import alternative, equivalent, mutant


def _reasons(lines, inputs, outputs, *, types=True, readers=True, weights=True, results=True):
    """Ours, with one of its parts left out."""
    made = {result: (op, list(operands)) for result, op, operands in lines}
    varies, found = set(inputs), {}
    for result, op, operands in lines:
        data = list(operands)
        if types and op in ("Shape", "CastLike"):
            data = data[: 1 if op == "CastLike" else 0]
        if not varies & set(data):
            found[result] = "fixed"
            continue
        varies.add(result)
        if op == "Identity":
            found[result] = "copy"
        if op == "BatchNormalization" and made.get(operands[0], ("",))[0] == "Conv":
            conv = operands[0]
            others = [*made[conv][1][1:], *operands[1:]]
            users = sum(conv in reads for _, _, reads in lines)
            alone = (users == 1 or not readers) and (conv not in outputs or not results)
            if alone and not (weights and varies & set(others)):
                found[result] = "absorbed"
    return found


@mutant("u01.redundant")
def reads_types_as_data(lines, inputs, outputs):
    return _reasons(lines, inputs, outputs, types=False)


@mutant("u01.redundant")
def forgets_other_readers(lines, inputs, outputs):
    return _reasons(lines, inputs, outputs, readers=False)


@mutant("u01.redundant")
def forgets_the_weights(lines, inputs, outputs):
    return _reasons(lines, inputs, outputs, weights=False)


@mutant("u01.redundant")
def forgets_the_outputs(lines, inputs, outputs):
    return _reasons(lines, inputs, outputs, results=False)


@mutant("u01.redundant")
def constants_only(lines, inputs, outputs):
    return {result: "fixed" for result, op, operands in lines if not operands}


@mutant("u01.redundant")
def all_copies(lines, inputs, outputs):
    return _reasons(lines, inputs, outputs) | {r: "copy" for r, op, _ in lines if op == "Identity"}


@mutant("u01.redundant")
def the_line_before(lines, inputs, outputs):
    """The convolution must stand in the very line before."""
    before = {b[0]: a[0] for a, b in pairwise(lines)}
    first = {result: operands[0] for result, _, operands in lines if operands}
    found = _reasons(lines, inputs, outputs)
    return {r: why for r, why in found.items() if why != "absorbed" or before[r] == first[r]}


@mutant("u01.redundant")
def through_copies(lines, inputs, outputs):
    """A copy of a convolution is taken for the convolution."""
    copies = {result: operands[0] for result, op, operands in lines if op == "Identity"}
    same = [
        (result, op, [copies.get(name, name) for name in operands])
        for result, op, operands in lines
        if op != "Identity"
    ]
    return _reasons(lines, inputs, outputs) | {
        r: why for r, why in _reasons(same, inputs, outputs).items() if why == "absorbed"
    }


@mutant("u01.redundant")
def any_convolution(lines, inputs, outputs):
    """A ConvTranspose and a Gemm have weights, too; the text says Conv."""
    kinds = {"ConvTranspose": "Conv", "Gemm": "Conv"}
    return _reasons([(r, kinds.get(op, op), o) for r, op, o in lines], inputs, outputs)


@mutant("u01.redundant")
def the_first_output(lines, inputs, outputs):
    """There may be several."""
    return _reasons(lines, inputs, outputs[:1])


@alternative("u01.redundant")
def with_patterns(lines, inputs, outputs):
    """The three reasons as cases of a match statement."""
    depends, readers, made, found = dict.fromkeys(inputs, True), {}, {}, {}
    for result, op, operands in lines:
        made[result] = (op, operands)
        for name in set(operands):
            readers.setdefault(name, []).append(result)

    def free(names):
        return not any(depends.get(name) for name in names)

    for result, op, operands in lines:
        match op, [*operands]:
            case "Shape", _:
                data = []
            case "CastLike", [first, *_]:
                data = [first]
            case _:
                data = operands
        depends[result] = not free(data)
        if not depends[result]:
            found[result] = "fixed"
        elif op == "Identity":
            found[result] = "copy"
        elif op == "BatchNormalization" and made.get(operands[0], [""])[0] == "Conv":
            conv, *rest = operands
            alone = readers[conv] == [result] and conv not in outputs
            if alone and free(rest) and free(made[conv][1][1:]):
                found[result] = "absorbed"
    return found


@alternative("u01.redundant")
def by_asking_backwards(lines, inputs, outputs):
    made = {result: (op, list(operands)) for result, op, operands in lines}

    def varies(name):
        op, operands = made.get(name, ("", []))
        data = {"Shape": [], "CastLike": operands[:1]}.get(op, operands)
        return name in inputs or any(map(varies, data))

    def reason(result, op, operands):
        if not varies(result):
            return "fixed"
        if op == "Identity":
            return "copy"
        before, weights = made.get(operands[0], ("", [])) if operands else ("", [])
        if (op, before) != ("BatchNormalization", "Conv") or operands[0] in outputs:
            return None
        alone = sum(operands[0] in names for _, _, names in lines) == 1
        return "absorbed" if alone and not any(map(varies, weights[1:] + operands[1:])) else None

    reasons = {line[0]: reason(line[0], line[1], list(line[2])) for line in lines}
    return {result: why for result, why in reasons.items() if why}


@alternative("u01.redundant")
def with_the_parts_together(lines, inputs, outputs):
    return _reasons(lines, inputs, outputs)


equivalent(
    "u01.redundant",
    "('', []))",
    "([], ''))",
    because="what is no line has another op than Conv, and then nobody asks for its operands",
)
equivalent("u01.redundant", "[*weights[1:], *operands[1:]]", "[*operands[1:], *weights[1:]]",
           because="names are looked up in any order")  # fmt: skip
for old in (
    "reasons[result] = 'fixed'",
    "reasons[result] = 'copy'",
    "reasons[result] = 'absorbed'",
):
    equivalent("u01.redundant", old, "setdefault", because="no two lines have the same result")
equivalent("u01.redundant", "line_of = {", "in list(lines)[:-1]}",
           because="behind the last line stands no norm")  # fmt: skip
equivalent("u01.redundant", "readers = Counter(", "in list(lines)[1:] for name in set(operands)",
           because="the first line reads no result of another line")  # fmt: skip
equivalent("u01.redundant", "for name in set(operands)", "for name in operands",
           because="a norm that reads its Conv twice has an operand that is not fixed")  # fmt: skip
