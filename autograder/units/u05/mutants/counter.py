"""Answers to unit 5 that count arithmetic in LLVM IR."""

from __future__ import annotations

import re
from collections import Counter

import llvmlite.binding as llvm

from autograder.check.edits import edited
from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.llvm.inspect.fma import arithmetic

NAME = "llvm.fma.arithmetic"
FLAGS, BLOCK, OPERANDS = (
    "{'contract', 'fast'}",
    " and value.block == into.block",
    "in total.operands",
)
PRODUCTS = "in [p for p in total.operands if getattr(p, 'opcode', '') == 'fmul']"


def _uses(where):
    """A product is used as often as it is an operand of such an instruction."""
    every = "for b in function.blocks for i in b.instructions"
    return "function.uses[value]", f"sum(list(i.operands).count(value) {every} if {where})"


mutants(
    NAME,
    instructions_and_not_lanes=("+= lanes", "+= 1"),
    without_flags=("not {'contract', 'fast'}.isdisjoint(flags)", "True"),
    only_the_flag_of_the_sum=(" and _contracts(value)", ""),
    only_the_flag_of_the_product=(" and _contracts(total)", ""),
    across_blocks=(BLOCK, ""),
    a_product_with_other_users=(" and (function.uses[value] == 1)", ""),
    both_products_vanish=("{total, products[0]}", "{total, *products}"),
    the_product_counts_too=("'' if value in pairs else 'mul'", "'mul'"),
    no_differences=("in _SUMS and", "in ('fadd',) and"),
    no_intrinsics=("called = _called(value)", "called = ''"),
    zeros_are_told=("= Counter()", "= Counter(fma=0, fmuladd=0, pair=0, add=0, mul=0)"),
    all_blocks_together=("[_lanes_by_kind(block, fused) for block in function.blocks]",
                         "[dict(sum((Counter(_lanes_by_kind(block, fused)) "
                         "for block in function.blocks), Counter()))]"),
    lanes_of_one_digit=("int(vector[2])", "int(vector[2][:1])"),
    lanes_from_a_short_table=("if vector is None", "if value.type not in "
                              "('<4 x float>', '<8 x float>', '<2 x double>')"),
    users_in_its_own_block_only=_uses("i.block == value.block"),
    only_the_first_product=(OPERANDS, f"{PRODUCTS}[:1]"),
    only_the_last_product=(OPERANDS, f"{PRODUCTS}[-1:]"),
    whatever_has_fma_in_its_name=("called.startswith(start)", "start[5:] in called"),
    only_a_machine_with_fma_intrinsics=("if products:", "if False:"),  # nothing is fused
    any_flag_that_reorders=(FLAGS, "{'contract', 'fast', 'reassoc'}"),
    only_the_word_contract=(FLAGS, "{'contract'}"),
    any_flag_at_all=(FLAGS, "set(_FLAGS)"),
    # A value may be called %fast or %contracted.
    flags_anywhere_in_the_line=(
        "not {'contract', 'fast'}.isdisjoint(flags)",
        "any(flag in ' '.join(operation.words) for flag in ('contract', 'fast'))"),
    blocks_up_to_the_fifth=("in function.blocks]\n\ndef", "in function.blocks[:5]]\n\ndef"),
    only_arithmetic_uses_a_product=_uses("i.opcode in ('fadd', 'fsub', 'fmul', 'fdiv', 'fneg')"),
    a_store_is_no_use=_uses("i.opcode != 'store'"),
    a_return_is_no_use=_uses("i.opcode != 'ret'"),
    no_product_minus_something=(OPERANDS, "in total.operands[total.opcode == 'fsub':]"),
    only_a_product_plus_something=(OPERANDS, "in total.operands[:1]"),
    through_a_phi=(BLOCK, "", OPERANDS, "in [p.operands[0] if getattr(p, 'opcode', '') == 'phi' "
                   "else p for p in total.operands]"),
    floats_alone=("if kind:", "if kind and 'float' in instruction.type:"),
    # a double is as long as two floats, a half is half of one
    as_many_floats_as_fit=("+= lanes", "+= lanes * {'double': 2, 'half': 0.5, 'bfloat': 0.5, "
                           "'fp128': 4}.get(instruction.type.split()[-1].rstrip('>'), 1)"),
)  # fmt: skip


@mutant(NAME)
def lanes_of_the_first_argument(text):
    lanes, given = {}, edited(arithmetic, "+= lanes", "+= 1")(text)
    for name, n in re.findall(r"^define .*?@([\w.]+)\(.*?(?:float|<(\d+) x \w+>)", text, re.M):
        lanes[name] = [{k: count * int(n or 1) for k, count in row.items()} for row in given[name]]
    return lanes


alternatives(NAME, the_last_of_two_products=("products[0]", "products[-1]"))


@alternative(NAME)
def with_llvmlite_alone(text):
    """No view: opcodes, operands, and the text of each instruction."""
    counts_of = {}
    for function in llvm.parse_assembly(text).functions:
        if function.is_declaration:
            continue
        blocks = [list(b.instructions) for b in function.blocks]
        uses = Counter(o for block in blocks for i in block for o in i.operands)
        counts_of[function.name] = []
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
            counts_of[function.name].append(dict(row))
    return counts_of


_FLAG = r" = \w+ (\w+ )*(contract|fast)\b"


@alternative(NAME)
def line_by_line(text):
    """The printed text, with regular expressions."""
    counts_of = {}
    for name, body in re.findall(r"^define .*?@([\w.]+)\(.*?\{\n(.*?)^\}", text, re.M | re.S):
        parts = re.split(r"^\w+:.*\n", body, flags=re.M)
        parts = parts if parts[0].strip() else parts[1:]
        counts_of[name] = [_of_lines(part, body) for part in parts]
    return counts_of


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
