"""Wrong and right answers of the lab beside unit 15."""

from __future__ import annotations

import ast
import re
from math import ceil, log2, prod

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants

# ── launches ──

mutants(
    "u15_lab_block.launched",
    definitions_not_launches=lambda text: [*_held(text).items()],
    launches_of_kernels_only=("called[1] in held or called[1].startswith('extern_kernels')", "called[1] in held"),
    library_only=("called[1] in held or called[1].startswith('extern_kernels')",
                  "'.' in called[1]"),
    each_once=("if called[1] in held or called[1].startswith('extern_kernels'):",
               "if (called[1] in held or called[1].startswith('extern_kernels')) and called[1] not in dict(launches):"),
    every_call=("if called[1] in held or called[1].startswith('extern_kernels'):", "if True:"),
    keeps_earlier_operations=("held[made[1]], found = (found, [])", "held[made[1]] = [*found]"),
    each_operation_once=("= (found, [])", "= ([*dict.fromkeys(found)], [])"),
    sorted_operations=("= (found, [])", "= (sorted(found), [])"),
    of_the_summary=lambda text: [
        (name, sorted({*operations})) for name, operations in _launched(text)
    ],
    inputs_too=("call_function\\\\[target=torch\\\\.ops\\\\.aten\\\\.(\\\\w+)", "%(\\\\w+) :"),
    names_of_values=("call_function\\\\[target=torch\\\\.ops\\\\.aten\\\\.(\\\\w+)",
                     "%(\\\\w+) : .*call_function"),
    without_run=("(?:\\\\.run)?", "\\\\.run"),
    in_order_of_definition=lambda text: sorted(
        _launched(text), key=lambda row: [*_held(text), row[0]].index(row[0])
    ),
    short_names=("launches.append((called[1],", "launches.append((called[1].split('.')[-1],"),
    of_a_kernel_as_words=("held.get(called[1], [])", "' '.join(held.get(called[1], []))"),
    names_alone=("launches.append((called[1], held.get(called[1], [])))",
                 "launches.append(called[1])"),
)  # fmt: skip


def _held(text):
    found = {}
    for part in re.split(r"(?m)^(?=# Topologically|\w+ = async_compile\.cpp)", text.partition("\ndef call")[0]):
        if name := re.search(r"(?m)^(\w+) = async", part):
            found[name[1]] = re.findall(r"aten\.(\w+)\.\w+\]\(", part)
    return found


def _launched(text):
    held = _held(text)
    lines = text.partition("\ndef call")[2].splitlines()
    names = [line.strip().partition("(")[0].removesuffix(".run") for line in lines]
    return [(name, held.get(name, [])) for name in names
            if name in held or name.startswith("extern_kernels.")]  # fmt: skip


@alternative("u15_lab_block.launched")
def in_parts(text):
    return _launched(text)


@alternative("u15_lab_block.launched")
def by_the_tree_of_python(text):
    held, rows = _held(text), []
    (call,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    for statement in call.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            name = ast.unparse(statement.value.func).removesuffix(".run")
            if name in held or name.startswith("extern_kernels"):
                rows.append([name, tuple(held.get(name, ()))])
    return rows


alternatives(
    "u15_lab_block.launched",
    as_tuples=lambda text: tuple((name, tuple(held)) for name, held in _launched(text)),
)

equivalent("u15_lab_block.launched", "in text.splitlines()", "in list(text.splitlines())[:-1]",
           because="the last line of `call` returns")  # fmt: skip

# ── bytes ──

TWO = "sum((size for role, size in pairs if role != 'out'))"

mutants(
    "u15_lab_block.moved",
    numbers_not_bytes=("return 4 * prod", "return prod"),
    eight_bytes=("return 4 * prod", "return 8 * prod"),
    in_out_is_written=("if role != 'out'", "if role == 'in'"),
    in_out_is_read=("if role != 'in'", "if role == 'out'"),
    read_and_written_exchanged=lambda text: [(n, w, r) for n, r, w in _moved(text)],
    the_sum_of_both=lambda text: [(n, r + w, w) for n, r, w in _moved(text)],
    libraries_read_alone=("['in'] * (len(arrays) - 1) + ['out']", "['in'] * len(arrays)"),
    libraries_write_the_first=("['in'] * (len(arrays) - 1) + ['out']",
                               "['out'] + ['in'] * (len(arrays) - 1)"),
    libraries_do_not_count=lambda text: [row for row in _moved(text) if "." not in row[0]],
    parts_as_large_as_the_whole=("[sizes[name] if name else _bytes(own) for own, _, name in "
                                 "re.findall(pattern, arguments)]",
                                 "[sizes[n] for n in re.findall('(?:arg|buf)\\\\d\\\\w*', "
                                 "arguments)]"),
    parts_do_not_count=("[sizes[name] if name else _bytes(own)",
                        "[sizes[name] if name else 0"),
    strides_as_sizes=("_bytes(own) for own, _, name", "_bytes(own) for _, own, name"),
    a_single_number_is_nothing=("return 4 * prod((int(n) for n in re.findall('\\\\d+', sizes)))",
                                "return 4 * prod((int(n) for n in re.findall('\\\\d+', sizes))) * "
                                "(len(sizes) > 0)"),
    other_sizes_are_the_old_ones=("sizes[made[1]] = sizes[made[2]]", "sizes[made[1]] = 0"),
    each_launch_once=lambda text: [*{row[0]: row for row in _moved(text)}.values()],
    the_largest_array_alone=(TWO, "max([size for role, size in pairs if role != 'out'] or [0])"),
    of_the_whole_text=lambda text: [("call", sum(r for _, r, _ in _moved(text)),
                                     sum(w for *_, w in _moved(text)))],
    scratch_is_no_traffic=("if role != 'in'", "if role != 'in' and size > 64"),
)  # fmt: skip


def _moved(text):
    """By the tree of `call`, as a small interpreter of shapes."""
    (call,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    heads = re.findall(r"(?m)^(\w+) = async_compile.*\n(?:@triton.jit\n)?(.*)", text)
    roles = {name: re.findall(r"(in_out|in|out)_ptr", head) for name, head in heads}
    known, rows = {}, []

    def size(node):
        if isinstance(node, ast.Call):
            return 4 * prod(ast.literal_eval(node.args[1]))
        return known.get(node.id) if isinstance(node, ast.Name) else None

    for line in call.body:
        value = line.value
        name = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        if isinstance(line, ast.Assign) and name.startswith("empty_strided"):
            known[line.targets[0].id] = 4 * prod(ast.literal_eval(value.args[0]))
        elif isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            known[line.targets[0].id] = size(value)
        elif name == "assert_size_stride":
            known[value.args[0].id] = 4 * prod(ast.literal_eval(value.args[1]))
        elif name.startswith("extern_kernels"):
            out = next(k.value for k in value.keywords if k.arg == "out")
            rows.append((name, sum(map(size, value.args)), size(out)))
        elif (kernel := name.removesuffix(".run")) in roles:
            pairs = [(r, size(x)) for r, x in zip(roles[kernel], value.args, strict=False)]
            rows.append((kernel, sum(n for r, n in pairs if r.startswith("in")),
                         sum(n for r, n in pairs if r.endswith("out"))))  # fmt: skip
    return rows


@alternative("u15_lab_block.moved")
def by_an_interpreter_of_shapes(text):
    return _moved(text)


@alternative("u15_lab_block.moved")
def by_running_it(text):
    """`call` runs with stand-ins for everything that it calls."""
    heads = re.findall(r"(?m)^(\w+) = async_compile.*\n(?:@triton.jit\n)?(.*)", text)
    rows = []

    class Launch:
        def __init__(self, name, roles):
            self.name, self.roles = name, roles

        def __call__(self, *arrays, out=None, stream=0, alpha=1, beta=1):
            given = [a for a in (*arrays, out) if isinstance(a, np.ndarray)]
            roles = self.roles or ["in"] * (len(given) - 1) + ["out"]
            read = sum(a.nbytes for r, a in zip(roles, given, strict=False) if r != "out")
            rows.append((self.name, read, sum(a.nbytes for r, a in zip(roles, given, strict=False)
                                              if r != "in")))  # fmt: skip

        run = __call__

    class Library:
        def __getattr__(self, name):
            return Launch(f"extern_kernels.{name}", None)

    class Torch:
        float32 = np.float32

    def empty(shape, *_):
        return np.broadcast_to(np.float32(0), shape)

    code = text[text.index("\ndef call(") :]
    shapes = dict(re.findall(r"assert_size_stride\((\w+), (\([\d, ]*\))", code))
    order = re.search(r"    (.*?),? = args", code)[1].split(", ")
    names = {name: Launch(name, re.findall(r"(in_out|in|out)_ptr", head)) for name, head in heads}
    names |= {"extern_kernels": Library(), "torch": Torch, "stream0": 0, "empty_strided_cpu": empty,
              "empty_strided_cuda": empty, "assert_size_stride": lambda *_: None,
              "reinterpret_tensor": lambda array, *shape: empty(*shape)}  # fmt: skip
    exec(code, names)
    names["call"]([empty(ast.literal_eval(shapes.get(name, "()"))) for name in order])
    return rows


alternatives("u15_lab_block.moved", as_lists=lambda text: [[*row] for row in _moved(text)],
             as_numpy=lambda text: [(n, np.int64(r), np.int64(w)) for n, r, w in _moved(text)])  # fmt: skip

for _old, _new, _why in [
    ("[2].splitlines()", "list(text", "the first and the last line of `call` state no size"),
    ("= _bytes(made[3])", "sizes.setdefault(", "an array is made once"),
    ("= sizes[made[2]]", "sizes.setdefault(", "an array is made once"),
]:
    equivalent("u15_lab_block.moved", _old, _new, because=_why)

# ── loops ──

mutants(
    "u15_lab_block.loops",
    times_of_its_own_head=(" * (around[-1][1]['times'] if around else 1)", ""),
    numbers_not_iterations=("-(-end // step)", "end"),
    the_rest_is_lost=("-(-end // step)", "(end // step)"),
    everything_is_shared=("'shared': shared > 0", "'shared': True"),
    shared_if_outermost=("'shared': shared > 0", "'shared': not around"),
    single_is_shared=("startswith('#pragma omp for')", "startswith('#pragma omp')"),
    collapse_is_ignored=("2 if 'collapse(2)' in words else 1", "1"),
    always_two=("2 if 'collapse(2)' in words else 1", "2"),
    shared_for_ever=("shared -= 1", "pass"),
    bodies_with_inner_loops=("_read(words, around[-1][1])",
                             "[_read(words, row) for _, row in around]"),
    lines_of_the_last_loop=("_read(words, around[-1][1])", "_read(words, found[-1])"),
    vector_loads_alone=("'= loadu\\\\((\\\\w+)|= (\\\\w+)\\\\['", "'= loadu\\\\((\\\\w+)|(\\\\b$)'"),
    vector_stores_alone=("'\\\\.store\\\\((\\\\w+)|^(\\\\w+)\\\\['", "'\\\\.store\\\\((\\\\w+)|(\\\\b$)'"),
    each_time=("list(dict.fromkeys([*loop[key], pointer[1] or pointer[2]]))",
               "[*loop[key], pointer[1] or pointer[2]]"),
    sorted_pointers=("list(dict.fromkeys([*loop[key], pointer[1] or pointer[2]]))",
                     "sorted({*loop[key], pointer[1] or pointer[2]})"),
    the_lanes_at_the_end=(" and 'vec_reduce_all' not in words", ""),
    every_addition=("words.startswith(f'{to[1]} = {start}')",
                    "words.startswith(f'{to[1]} = ')"),
    no_maximum=("('maximum', f'maximum({to[1]}, ')", "('sum', f'maximum({to[1]}, ')"),
    in_order_of_depth=("return found", "return sorted(found, key=lambda row: row['loop'])"),
    innermost_first=("return found", "return found[::-1]"),
    without_shared=("return found",
                    "return [{k: row[k] for k in row if k != 'shared'} for row in found]"),
)  # fmt: skip


def _nested(code):
    """By recursion over the indentation: the loops that begin the given lines."""
    lines = [line for line in code.splitlines() if line.strip()]

    def read(first, depth, times, collapsed):
        rows, own, at = [], [], first
        while at < len(lines):
            text = lines[at].strip()
            if len(lines[at]) - len(lines[at].lstrip()) < depth:
                break
            if not text.startswith("for("):
                own.append(text)
                at += 1
                continue
            name, end, step = re.match(r"for\((\w+)=0; \w+<(\d+); \w+\+=(\d+)\)", text).groups()
            above = lines[at - 1].strip() if at else ""
            shared = above.startswith("#pragma omp for") or (collapsed and at == first)
            runs = times * ceil(int(end) / int(step))
            inner, body, after = read(at + 1, depth + 4, runs, "collapse" in above)
            sums = [re.match(r"(tmp_acc\w+) = (\1 \+|maximum\(\1,)", line) for line in body
                    if "vec_reduce_all" not in line]  # fmt: skip
            kinds = ["maximum" if "max" in m[2] else "sum" for m in sums if m]
            rows.append({
                "loop": name, "step": int(step), "times": runs, "shared": shared,
                "loads": _of(body, r"= (?:loadu\((\w+)|(\w+)\[)"),
                "stores": _of(body, r"(?:store\((\w+)|^(\w+)\[)"),
                "reduces": kinds[0] if kinds else "",
            })  # fmt: skip
            rows += inner
            at = after
        return rows, own, at

    return read(0, 0, 1, False)[0]


def _of(lines, pattern):
    found = [re.search(pattern, line) for line in lines]
    return list(dict.fromkeys(m[1] or m[2] for m in found if m))


@alternative("u15_lab_block.loops")
def by_recursion(code):
    return _nested(code)


alternatives(
    "u15_lab_block.loops",
    as_tuples=lambda code: tuple({**row, "loads": tuple(row["loads"])} for row in _nested(code)),
    as_numpy=lambda code: [{**row, "times": np.int64(row["times"]), "shared": np.bool_(row["shared"])}
                           for row in _nested(code)],
)  # fmt: skip

for _old, _new, _why in [
    ("in (('loads',", "reversed(list((('loads'", "no line loads and stores"),
    ("in (('loads',", "in (('stores',", "no line loads and stores"),
    ("in (('sum',", "reversed(list((('sum'", "no line is both"),
    ("in (('sum',", "in (('maximum',", "no line is both"),
    ("in code.splitlines()", "list(code.splitlines())[1:]", "the first line is the kernel's head"),
    ("shared = 0", "shared = -1", "nothing is shared before the first pragma"),
]:
    equivalent("u15_lab_block.loops", _old, _new, because=_why)

# ── tiles ──

mutants(
    "u15_lab_block.tile",
    what_each_program_gets=("while size * grid[int(axis)] < int(count):\n            size *= 2",
                            "size = -(-int(count) // grid[int(axis)])"),
    twice_as_large=("size = 1", "size = 2"),
    below=("< int(count)", "<= int(count)"),
    all_numbers_of_x=("size * grid[int(axis)] < int(count)", "size < int(count)"),
    always_axis_0=("grid[int(axis)]", "grid[0]"),
    every_program_of_the_grid=("grid[int(axis)]", "prod(grid)"),
    always_x=("{name[0].lower()}numel", "xnumel"),
    only_what_stands_there=lambda code, grid, threads: {
        name: size for name, size in _tile(code, grid, threads).items() if name[0] in "Re"
    },
    only_what_is_chosen=lambda code, grid, threads: {
        name: size for name, size in _tile(code, grid, threads).items() if name[0] != "R"
    },
    for_a_program=("prod(blocks.values()) // threads", "prod(blocks.values())"),
    a_thread_for_a_row=("prod(blocks.values()) // threads", "blocks.get('R0_BLOCK', 1)"),
    for_a_warp=("prod(blocks.values()) // threads", "prod(blocks.values()) // (threads // 32)"),
    the_sum_of_the_blocks=("prod(blocks.values()) // threads", "sum(blocks.values()) // threads"),
    in_warps=lambda code, grid, threads: _tile(code, grid, max(1, threads // 32)),
    the_names_in_small_letters=lambda code, grid, threads: {
        name.lower(): size for name, size in _tile(code, grid, threads).items()
    },
)  # fmt: skip


def _tile(code, grid, threads):
    tile = {name: int(size) for name, size in
            re.findall(r"(\w+BLOCK): tl.constexpr = (\d+)", code)}  # fmt: skip
    for line in code.splitlines():
        if found := re.search(r"program_id\((\d)\) \* (\w)BLOCK", line):
            axis, letter = int(found[1]), found[2]
            count = int(re.search(rf"{letter.lower()}numel = (\d+)", code)[1])
            tile[f"{letter}BLOCK"] = 2 ** max(0, ceil(log2(ceil(count / grid[axis]))))
    return {**tile, "each": prod(tile.values()) / threads}


@alternative("u15_lab_block.tile")
def by_logarithms(code, grid, threads):
    return _tile(code, grid, threads)


alternatives(
    "u15_lab_block.tile",
    as_numpy=lambda code, grid, threads: {k: np.int64(n) for k, n in
                                          _tile(code, grid, threads).items()},
    by_bits=("size = 1\n        while size * grid[int(axis)] < int(count):\n            size *= 2",
             "size = 1 << (-(-int(count) // grid[int(axis)]) - 1).bit_length()"),
)  # fmt: skip

equivalent("u15_lab_block.tile", "for axis, name in re", "reversed(list(re",
           because="the order of the blocks does not matter")  # fmt: skip
equivalent("u15_lab_block.tile", "blocks[name] = size", "blocks.setdefault(name, size)",
           because="a block that is chosen does not stand in the code")  # fmt: skip
