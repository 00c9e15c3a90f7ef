"""Answers to unit 5 that count arithmetic in LLVM IR."""

from __future__ import annotations

import re
from collections import Counter

import llvmlite.binding as llvm

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.llvm.inspect.control.view import Instruction, functions
from course_lib.llvm.inspect.fma import parse

NAME = "llvm.fma.arithmetic"


def _arithmetic(text, *, lanes=True, flags="both", block=True, users=True, two=False, twice=False,
                sub=True, calls=True, zeros=False, flat=False, width=None, here=False,
                among=slice(None), allow=("contract", "fast"), users_are=None,
                into=lambda i: i.operands):  # fmt: skip
    """The counter, with a switch for each sentence."""
    found = {}
    for function in functions(parse(text)):
        fused, products = set(), set()
        for b in function.blocks:
            for i in b.instructions:
                if i.opcode not in (("fadd", "fsub") if sub else ("fadd",)):
                    continue
                if flags in ("both", "sum") and not _allowed(i, allow):
                    continue
                fit = [
                    o for o in [o for o in into(i) if _is_product(o)][among]
                    if (flags in ("none", "sum") or _allowed(o, allow))
                    and (not block or o.block == i.block)
                    and (not users or _uses(o, b if here else function, users_are) == 1)
                ]  # fmt: skip
                if fit:
                    fused.add(i)
                    products.update(fit if two else fit[:1])
        rows = []
        for b in function.blocks:
            row = Counter(dict.fromkeys(("fma", "fmuladd", "pair", "add", "mul"), 0))
            for i in b.instructions:
                kind = _kind(i, fused, products, twice, calls)
                row[kind] += (width or _width)(i.type) if lanes else 1
            row.pop("", None)
            rows.append(dict(row) if zeros else {k: n for k, n in row.items() if n})
        if flat:
            rows = [dict(sum(map(Counter, rows), Counter()))]
        found[function.name] = rows
    return found


def _is_product(o):
    return isinstance(o, Instruction) and o.opcode == "fmul"


def _uses(o, where, opcodes):
    """How often it is an operand in a function, or in a block; of these instructions, or of all."""
    blocks = getattr(where, "blocks", [where])
    found = [i for b in blocks for i in b.instructions if not opcodes or i.opcode in opcodes]
    return sum(list(i.operands).count(o) for i in found)


def _width(kind):
    vector = re.match(r"<(\d+) x", kind)
    return int(vector[1]) if vector else 1


def _allowed(i, allow):
    return bool(set(allow) & set(i.words[1 : i.words.index(i.type.split()[0])]))


def _kind(i, fused, products, twice, calls):
    if i.opcode in ("fadd", "fsub"):
        return "pair" if i in fused else "add"
    if i.opcode == "fmul":
        return "" if i in products and not twice else "mul"
    if i.opcode == "call" and calls:
        name = i.operands[-1].name
        anywhere = calls == "anywhere"
        at = (lambda k: f"{k}." in name) if anywhere else (lambda k: name.startswith(f"llvm.{k}."))
        return next((k for k in ("fmuladd", "fma") if at(k)), "")
    return ""


@mutant(NAME)
def instructions_and_not_lanes(text):
    return _arithmetic(text, lanes=False)


@mutant(NAME)
def without_flags(text):
    return _arithmetic(text, flags="none")


@mutant(NAME)
def only_the_flag_of_the_sum(text):
    return _arithmetic(text, flags="sum")


@mutant(NAME)
def only_the_flag_of_the_product(text):
    return _arithmetic(text, flags="product")


@mutant(NAME)
def across_blocks(text):
    return _arithmetic(text, block=False)


@mutant(NAME)
def a_product_with_other_users(text):
    return _arithmetic(text, users=False)


@mutant(NAME)
def both_products_vanish(text):
    return _arithmetic(text, two=True)


@mutant(NAME)
def the_product_counts_too(text):
    return _arithmetic(text, twice=True)


@mutant(NAME)
def no_differences(text):
    return _arithmetic(text, sub=False)


@mutant(NAME)
def no_intrinsics(text):
    return _arithmetic(text, calls=False)


@mutant(NAME)
def zeros_are_told(text):
    return _arithmetic(text, zeros=True)


@mutant(NAME)
def all_blocks_together(text):
    return _arithmetic(text, flat=True)


@mutant(NAME)
def lanes_of_one_digit(text):
    return _arithmetic(text, width=lambda kind: int(kind[1]) if kind[0] == "<" else 1)


@mutant(NAME)
def lanes_from_a_short_table(text):
    table = {"<4 x float>": 4, "<8 x float>": 8, "<2 x double>": 2}
    return _arithmetic(text, width=lambda kind: table.get(kind, 1))


@mutant(NAME)
def users_in_its_own_block_only(text):
    return _arithmetic(text, here=True)


@mutant(NAME)
def only_the_first_product(text):
    return _arithmetic(text, among=slice(1))


@mutant(NAME)
def only_the_last_product(text):
    return _arithmetic(text, among=slice(-1, None))


@mutant(NAME)
def whatever_has_fma_in_its_name(text):
    return _arithmetic(text, calls="anywhere")


@mutant(NAME)
def only_a_machine_with_fma_intrinsics(text):
    return _arithmetic(text, flags="both", users=True, block=True, sub=False, calls=True)


@mutant(NAME)
def any_flag_that_reorders(text):
    return _arithmetic(text, allow=("contract", "fast", "reassoc"))


@mutant(NAME)
def only_the_word_contract(text):
    return _arithmetic(text, allow=("contract",))


@mutant(NAME)
def any_flag_at_all(text):
    flags = ("contract", "fast", "reassoc", "nnan", "ninf", "nsz", "arcp", "afn")
    return _arithmetic(text, allow=flags)


@mutant(NAME)
def only_arithmetic_uses_a_product(text):
    return _arithmetic(text, users_are=("fadd", "fsub", "fmul", "fdiv", "fneg"))


@mutant(NAME)
def a_store_is_no_use(text):
    every = ("fadd", "fsub", "fmul", "fdiv", "fneg", "ret", "call", "phi", "select", "fcmp",
             "freeze", "insertvalue")  # fmt: skip
    return _arithmetic(text, users_are=every)


@mutant(NAME)
def a_return_is_no_use(text):
    every = ("fadd", "fsub", "fmul", "fdiv", "fneg", "store", "call", "phi", "select", "fcmp",
             "freeze", "insertvalue")  # fmt: skip
    return _arithmetic(text, users_are=every)


@mutant(NAME)
def no_product_minus_something(text):
    return _arithmetic(text, into=lambda i: i.operands[i.opcode == "fsub" :])


@mutant(NAME)
def only_a_product_plus_something(text):
    return _arithmetic(text, into=lambda i: i.operands[:1])


@mutant(NAME)
def through_a_phi(text):
    return _arithmetic(text, block=False, into=lambda i: [
        o.operands[0] if isinstance(o, Instruction) and o.opcode == "phi" else o
        for o in i.operands])  # fmt: skip


@mutant(NAME)
def floats_alone(text):
    return _arithmetic(text, width=lambda kind: _width(kind) if "float" in kind else 0)


@mutant(NAME)
def as_many_floats_as_fit(text):
    """A double is as long as two floats, a half is half of one."""
    bits = {"double": 2, "half": 0.5, "bfloat": 0.5, "fp128": 4}
    return _arithmetic(
        text, width=lambda kind: _width(kind) * bits.get(kind.split()[-1].rstrip(">"), 1)
    )


@mutant(NAME)
def lanes_of_the_first_argument(text):
    found, given = {}, _arithmetic(text, lanes=False)
    for name, first in re.findall(r"^define .*?@([\w.]+)\(.*?(float|<\d+ x \w+>)", text, re.M):
        found[name] = [{k: n * _width(first) for k, n in row.items()} for row in given[name]]
    return found


@alternative(NAME)
def with_switches(text):
    return _arithmetic(text)


@alternative(NAME)
def with_llvmlite_alone(text):
    """No view: opcodes, operands, and the text of each instruction."""
    found = {}
    for function in llvm.parse_assembly(text).functions:
        if function.is_declaration:
            continue
        blocks = [list(b.instructions) for b in function.blocks]
        uses = Counter(o for block in blocks for i in block for o in i.operands)
        found[function.name] = []
        for block in blocks:
            row, gone, pairs = Counter(), set(), set()
            of = {i: i for i in block}
            for i in block:
                if i.opcode not in ("fadd", "fsub") or not re.search(_FLAG, str(i)):
                    continue
                for o in (of[o] for o in i.operands if o in of):
                    if o.opcode == "fmul" and uses[o] == 1 and re.search(_FLAG, str(o)):
                        gone.add(o)
                        pairs.add(i)
                        break
            for i in block:
                n = int((re.match(r"<(\d+) x", str(i.type)) or [0, 1])[1])
                if i in pairs:
                    row["pair"] += n
                elif i.opcode in ("fadd", "fsub"):
                    row["add"] += n
                elif i.opcode == "fmul" and i not in gone:
                    row["mul"] += n
                elif called := re.search(r"@llvm\.(fma|fmuladd)\.", str(i)):
                    row[called[1]] += n
            found[function.name].append(dict(row))
    return found


_FLAG = r" = \w+ (\w+ )*(contract|fast)\b"


@alternative(NAME)
def line_by_line(text):
    """The printed text, with regular expressions."""
    found = {}
    for name, body in re.findall(r"^define .*?@([\w.]+)\(.*?\{\n(.*?)^\}", text, re.M | re.S):
        parts = re.split(r"^\w+:.*\n", body, flags=re.M)
        parts = parts if parts[0].strip() else parts[1:]
        found[name] = [_of_lines(part, body) for part in parts]
    return found


def _of_lines(part, body):
    row, products = Counter(), {}
    form = r"  (%\w+) = (fadd|fsub|fmul) (.*?)(<(\d+) x \w+>|\w+) (\S+), (\S+)$"
    rows = re.findall(form, part, re.M)
    for result, op, flags, _, n, *_ in rows:
        once = len(re.findall(re.escape(result) + r"\b", body)) == 2
        if op == "fmul" and once and {"contract", "fast"} & set(flags.split()):
            products[result] = int(n or 1)
        elif op == "fmul":
            row["mul"] += int(n or 1)
    for _, op, flags, _, n, *operands in rows:
        if op == "fmul":
            continue
        mine = (
            [o for o in operands if o in products]
            if {"contract", "fast"} & set(flags.split())
            else []
        )
        row["pair" if mine else "add"] += int(n or 1)
        if mine:
            products.pop(mine[0])
    for n in products.values():
        row["mul"] += n
    for n, kind in re.findall(r"call [\w ]*?(?:<(\d+) x \w+>|\w+) @llvm\.(fma|fmuladd)\.", part):
        row[kind] += int(n or 1)
    return dict(row)


ORDER = "what is counted, or fused, does not depend on the order"
UNASKED = "reductions and vectors of scalable length are not asked for"
for _old, _new, _why in [
    ("for block in function.blocks", "reversed", ORDER),
    ("for total in block.instructions", "reversed", ORDER),
    ("for total in block.instructions", "[1:]", "the first instruction has no product before it"),
    ("for total in block.instructions", "[:-1]", "the last one is a branch or a return"),
    ("for instruction in block.instructions", "reversed", ORDER),
    ("for instruction in block.instructions", "[:-1]", "the last one is a branch or a return"),
    ("o for o in total.operands", "reversed", "both products have the same lanes"),
    ("products[0]", "products[-1]", "both products have the same lanes"),
    ("return dict(counts)", "return counts", "a Counter is a dict"),
    ("llvm.vector.reduce.fadd.", "{", UNASKED),
    ("'contract', 'afn'", "'contract', 'fast'", "LLVM prints afn behind contract"),
    ("_SUMS = ('fadd', 'fsub')", "('fsub', 'fadd')", ORDER),
    ("_FLAGS = ", "_FLAGS = ('fast', 'afn'", ORDER),
    ("scalable + kind", "counts[kind]", UNASKED),
    ("INTRINSICS.items()", "[:-1]", UNASKED),
    ("if reduced:", "pass", UNASKED),
    ("reduced, vector =", "reduced, vector =", UNASKED),
    ("if reduced[1] else", "return", UNASKED),
    ("if reduced[1] else", "pass", UNASKED),
    ("vector[1]", "return ('', ", UNASKED),
]:
    equivalent(NAME, _old, _new, because=_why)
