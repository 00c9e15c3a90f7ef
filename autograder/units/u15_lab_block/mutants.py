"""Wrong and right answers of the lab beside unit 15."""

from __future__ import annotations

import ast
import re
from math import ceil, log2, prod

import numpy as np

from autograder.check.framework import alternatives, equivalent, mutants

# ── launches ──

NAME, LOOPS, TILE = (f"u15_lab_block.{name}" for name in ("launched", "loops", "tile"))

mutants(
    NAME,
    definitions_not_launches=lambda text: [*{row[0]: row for row in _rows(text)}.values()],
    kernels_alone=lambda text: [row for row in _rows(text) if "." not in row[0]],
    short_names=("((called[1], held", "((called[1].split('.')[-1], held"),
    keeps_earlier_operations=("held[made[1]], found = (found, [])", "held[made[1]] = [*found]"),
    each_operation_once=("= (found, [])", "= ([*dict.fromkeys(found)], [])"),
    numbers_not_bytes=("return 4 * prod", "return prod"),
    in_out_is_written=("if role != 'out'", "if role == 'in'"),
    in_out_is_read=("if role != 'in'", "if role == 'out'"),
    parts_as_large_as_the_whole=("f'reinterpret_tensor", "f'another_tensor"),
    strides_as_sizes=("_bytes(own) for own, _, name", "_bytes(own) for _, own, name"),
    parts_for_libraries_alone=("_arrays(called[2],", "_arrays(called[2] if '.' in called[1] else "
                               "called[2].replace('reinterpret', 'another'),"),
    letters_alone=(r"aten\\.(\\w+)", r"aten\\.([a-z_]+)"),
    a_single_number_is_nothing=("return 4 * prod(", "return (len(sizes) > 0) * 4 * prod("),
)  # fmt: skip


def _rows(text):
    """By the tree of Python, as a small interpreter of shapes."""
    *_, call = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    parts = re.split(r"(?m)^(?=# Topo|\w+ = async_compile\.cpp)", text.partition("\ndef call")[0])
    heads = {re.search(r"(?m)^(\w+) = async", p)[1]: p for p in parts if "async_compile" in p}
    pointers = {name: re.search(r"(?m)^(?:def|void) (.*)", part)[1] for name, part in heads.items()}
    known, rows = {}, []

    def size(node):
        if isinstance(node, ast.Call):
            # Sizes come second, but for an empty array they come first.
            return 4 * prod(ast.literal_eval(node.args["empty" not in ast.unparse(node.func)]))
        return known.get(node.id) if isinstance(node, ast.Name) else None

    for line in call.body:
        value = line.value
        name = ast.unparse(value.func).removesuffix(".run") if isinstance(value, ast.Call) else ""
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            known[line.targets[0].id] = size(value)
        elif name == "assert_size_stride":
            known[value.args[0].id] = size(value)
        elif name.startswith("extern_kernels"):
            out = next(k.value for k in value.keywords if k.arg == "out")
            rows.append((name, [], sum(map(size, value.args)), size(out)))
        elif name in heads:
            roles = re.findall(r"(in_out|in|out)_ptr", pointers[name])
            pairs = [(r, size(x)) for r, x in zip(roles, value.args, strict=False)]
            rows.append((name, re.findall(r"aten\.(\w+)\.\w+\]\(", heads[name]),
                         sum(n for r, n in pairs if r.startswith("in")),
                         sum(n for r, n in pairs if r.endswith("out"))))  # fmt: skip
    return rows


alternatives(
    NAME,
    by_the_tree_of_python=_rows,
    as_lists=lambda text: [[name, tuple(ops), *more] for name, ops, *more in _rows(text)],
    numpy_bytes=lambda text: tuple((n, o, np.int64(r), np.int64(w)) for n, o, r, w in _rows(text)),
)  # fmt: skip

for _old, _new, _why in [
    ("in call.splitlines()", "list(call", "the first and the last line of `call` state no size"),
    ("in kernels.splitlines()", "list(kernels", "the first and last lines are no operations"),
    ("= _bytes(stated[3])", "sizes.setdefault(", "an array is made once"),
    ("= sizes[same[2]]", "sizes.setdefault(", "an array is made once"),
]:
    equivalent(NAME, _old, _new, because=_why)

# ── loops ──

mutants(
    LOOPS,
    times_of_its_own_head=(" * (around[-1][1]['times'] if around else 1)", ""),
    numbers_not_iterations=("-(-end // step)", "end"),
    the_rest_is_lost=("-(-end // step)", "(end // step)"),
    single_is_shared=("startswith('#pragma omp for')", "startswith('#pragma omp')"),
    collapse_is_ignored=("2 if 'collapse(2)' in words else 1", "1"),
    shared_for_ever=("shared -= 1", "pass"),
    bodies_with_inner_loops=("_read(words, around[-1][1])",
                             "[_read(words, row) for _, row in around]"),
    lines_of_the_last_loop=("_read(words, around[-1][1])", "_read(words, found[-1])"),
    vector_loads_alone=(r"= (\\w+)\\['", r"= (\\b$)'"),
    the_lanes_at_the_end=(" and 'vec_reduce_all' not in words", ""),
    every_maximum=("for key, pattern in", "if ' = maximum(' in words:\n        loop['reduces'] = "
                                          "'maximum'\n    for key, pattern in"),
    products_are_sums=("words.startswith(f'{to[1]} = {start}')",
                       "kind == 'sum' or words.startswith(f'{to[1]} = {start}')"),
    named_by_depth=("'loop': head[1]", "'loop': f'x{len(around)}'"),
)  # fmt: skip


def _nested(code):
    """A line belongs to the last loop whose head stands four to the left of it."""
    rows, last, above, two = [], {}, "", False
    for line in code.splitlines():
        depth, text = (len(line) - len(line.lstrip())) // 4, line.strip()
        if text.startswith("for("):
            name, end, step = re.match(r"for\((\w+)=0; \w+<(\d+); \w+\+=(\d+)", text).groups()
            shared = "omp for" in above or (two and above.startswith("for"))
            times = ceil(int(end) / int(step)) * (last[depth - 1]["times"] if depth else 1)
            last[depth] = {"loop": name, "step": int(step), "times": times, "shared": shared,
                           "loads": [], "stores": [], "reduces": ""}  # fmt: skip
            rows.append(last[depth])
            two = "collapse" in above
        elif depth:
            for key, pattern in (("loads", r"= (?:loadu\((\w+)|(\w+)\[)"),
                                 ("stores", r"(?:store\((\w+)|^(\w+)\[)")):  # fmt: skip
                names = [a or b for a, b in re.findall(pattern, text)]
                last[depth - 1][key] += [x for x in names if x not in last[depth - 1][key]]
            if sums := re.match(r"(tmp_acc\w+) = (\1 \+ tmp|maximum\(\1,)", text):
                last[depth - 1]["reduces"] = "maximum" if "max" in sums[2] else "sum"
        above = text
    return rows


alternatives(
    LOOPS,
    by_depth=_nested,
    as_tuples=lambda code: tuple({**row, "loads": tuple(row["loads"])} for row in _nested(code)),
    times_of_numpy=lambda code: [{**row, "times": np.int64(row["times"])} for row in _nested(code)],
)  # fmt: skip

for _old, _new, _why in [
    ("in (('loads',", "reversed(list((('loads'", "no line loads and stores"),
    ("in (('loads',", "in (('stores',", "no line loads and stores"),
    ("in (('sum',", "reversed(list((('sum'", "no line is both"),
    ("in (('sum',", "in (('maximum',", "no line is both"),
    ("in code.splitlines()", "list(code.splitlines())[1:]", "the first line is the kernel's head"),
    ("shared = 0", "shared = -1", "nothing is shared before the first pragma"),
]:
    equivalent(LOOPS, _old, _new, because=_why)

# ── tiles ──

mutants(
    TILE,
    what_each_program_gets=("while size * grid[int(axis)] < int(count):\n            size *= 2",
                            "size = -(-int(count) // grid[int(axis)])"),
    always_axis_0=("grid[int(axis)]", "grid[0]"),
    axis_of_the_letter=("grid[int(axis)]", "grid['XYZ'.find(name[0])]"),
    r0_alone=(r"(\\w+BLOCK): tl", "(R0_BLOCK): tl"),
    what_the_numbers_need=("{name: int(size) for", "{name: 1 << (int(re.search(name[:3].lower() + "
                           r"'numel = (\\d+)', code)[1]) - 1).bit_length() for"),
    always_x=("{name[0].lower()}numel", "xnumel"),
    for_a_program=("prod(blocks.values()) // threads", "prod(blocks.values())"),
)  # fmt: skip


def _tile(code, grid, threads):
    tile = {name: int(size) for name, size in
            re.findall(r"(\w+BLOCK): tl.constexpr = (\d+)", code)}  # fmt: skip
    for line in code.splitlines():
        if found := re.search(r"program_id\((\d)\) \* (\w)BLOCK", line):
            count = int(re.search(rf"{found[2].lower()}numel = (\d+)", code)[1])
            size = ceil(count / grid[int(found[1])])
            tile[f"{found[2]}BLOCK"] = 2 ** max(0, ceil(log2(size)))
    return {**tile, "each": prod(tile.values()) / threads}


alternatives(
    TILE,
    by_logarithms=_tile,
    tile_of_numpy=lambda code, grid, threads: {k: np.int64(n) for k, n in
                                          _tile(code, grid, threads).items()},
    by_bits=("size = 1\n        while size * grid[int(axis)] < int(count):\n            size *= 2",
             "size = 1 << (-(-int(count) // grid[int(axis)]) - 1).bit_length()"),
)  # fmt: skip

equivalent(TILE, "for axis, name in re", "reversed(list(re",
           because="the order of the blocks does not matter")  # fmt: skip
equivalent(TILE, "blocks[name] = size", "blocks.setdefault(name, size)",
           because="a block that is chosen does not stand in the code")  # fmt: skip
