"""Wrong answers of the lab beside unit 14 that the checks must reject, right ones they must accept.

For `divided` and `generate`, most are ours with one thing changed.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.plugins.byoc.memory import places

# ── divided ──

FUSE, THREE = "FuseOpsByPattern(rows)", "('sums_zero', 'step', 'zero')"
FOLD = "module = transform.FoldConstant()(module)"
MERGE = "return transform.MergeCompositeFunctions()(module)"
mutants(
    "u14_lab_byoc.divided",
    not_folded=(FOLD, "pass"),
    folded_last=(FOLD, "pass", MERGE, f"return transform.FoldConstant()({MERGE[7:]})"),
    not_merged=(MERGE, "return module"),
    a_region_for_each_layer=(FUSE, f"{FUSE[:-1]}, annotate_codegen=True)"),
    constants_outside=(FUSE, f"{FUSE[:-1]}, bind_constants=False)"),
    another_chip=("chip.dense", "npu.dense"),
    only_with_relu=("for relu in (True, False)", "for relu in (True,)"),
    weights_of_any_type=("is_const().has_dtype('int8')", "is_const()"),
    weights_may_be_computed=("is_const().has_dtype", "wildcard().has_dtype"),
    a_bias_may_be_computed=("parts['bias'] = dpl.is_const()", "parts['bias'] = dpl.wildcard()"),
    x_of_any_type=("dpl.wildcard().has_dtype('int8')\n    parts", "dpl.wildcard()\n    parts"),
    sums_of_any_type=(".has_dtype('int32')", ""),
    without_a_check=("value, parts, _accepts", "value, parts"),
    who_reads_is_not_asked=("if leaves and", "if False and"),
    any_rank=("len(sizes['x']) != 2 or ", ""),
    any_number_of_rows=(" or sizes['x'][0] > 64", ""),
    fewer_than_64_rows=("sizes['x'][0] > 64", "sizes['x'][0] >= 64"),
    any_bias=("sizes.get('bias', columns) != columns or ", ""),
    any_scale=("sizes['scale'] == [] or by_column", "True"),
    one_scale_for_each_column_only=("sizes['scale'] == [] or by_column", "by_column"),
    any_axis=(" and int(found['real'].attrs.axis) in (-1, 1)", ""),
    any_step=("'step', 'zero')", "'zero')", "[0, 1, 0]", "[0, 0]"),
    one_of_the_zero_points=(THREE, "('step', 'zero')", "[0, 1, 0]", "[1, 0]"),
    the_other_zero_point=(THREE, "('sums_zero', 'step')", "[0, 1, 0]", "[0, 1]"),
)  # fmt: skip


@alternative("u14_lab_byoc.divided")
def with_alternatives_in_one_pattern(tvm, module):
    """One pattern in which `|` stands for what may be missing."""
    relax, const = tvm.relax, tvm.relax.dpl.is_const
    op, names = relax.dpl.is_op, {}

    def named(name, pattern):
        names[name] = pattern
        return pattern

    x = named("x", relax.dpl.wildcard())
    product = op("relax.matmul")(x, named("w", const()))
    sums = op("relax.add")(product, named("bias", const())) | product
    real = op("relax.dequantize")(sums, named("scale", const()), named("z1", const()))
    real = op("relax.nn.relu")(real) | real
    whole = op("relax.quantize")(real, named("step", const()), named("z2", const()))

    def check(context):
        found, inside = context.annotated_expr, context.matched_bindings
        call = {value.op.name: value for value in inside.values()}
        x, w = found["x"].ty, found["w"].ty
        leak = [var for var in inside if not {*context.var_usages[var]} <= {*inside}
                and not inside[var].same_as(context.matched_expr)]  # fmt: skip
        types = (x.dtype, w.dtype, call["relax.matmul"].ty.dtype, context.matched_expr.ty.dtype)
        if leak or types != ("int8", "int8", "int32", "int8") or (x.ndim, w.ndim) != (2, 2):
            return False
        n, axis = int(w.shape[1]), int(call["relax.dequantize"].attrs.axis)
        bias = "bias" not in found or [int(d) for d in found["bias"].ty.shape] == [n]
        scale = [int(d) for d in found["scale"].ty.shape]
        numbers = [found[key].value.numpy().item() for key in ("z1", "step", "z2")]
        good = bias and (not scale or (scale == [n] and axis % 2 == 1))
        return int(x.shape[0]) <= 64 and good and numbers == [0, 1, 0]

    row = relax.transform.FusionPattern("chip.layer", whole, names, check)
    fuse = relax.transform.FuseOpsByPattern([row])
    for step in (relax.transform.FoldConstant(), fuse, relax.transform.MergeCompositeFunctions()):
        module = step(module)
    return module


alternatives(
    "u14_lab_byoc.divided",
    the_shorter_patterns_first=("for bias in (True, False)", "for bias in (False, True)"),
    with_the_bias_in_front=("(value, parts['bias'])", "(parts['bias'], value)"),
    as_objects=(FUSE, "FuseOpsByPattern([transform.FusionPattern(*row) for row in rows])"),
    one_after_the_other=(f"module = transform.{FUSE}(module)",
                         "for row in rows:\n        "
                         "module = transform.FuseOpsByPattern([row])(module)"),
)  # fmt: skip

# ── generate ──

NEXT = "next((o for o in operands if isinstance(o, tvm.ir.GenericConst)))"
TILES = "range(0, k, chip.rows)"
ONES = " * np.ones(bias.shape, np.float32)"
mutants(
    "u14_lab_byoc.generate",
    the_bias_comes_second=(NEXT, "operands[1]"),
    never_a_bias=("'relax.add' in calls", "False"),
    zeros_for_each_row=("np.zeros(weights.shape[1]", "np.zeros(weights.shape[0]"),
    one_scale_stays_one=(ONES, ""),
    a_scale_of_64_bits=("np.ones(bias.shape, np.float32)", "np.ones(bias.shape)"),
    the_scale_of_quantize=("calls['relax.dequantize']", "calls['relax.quantize']"),
    weights_turned=("'weights': weights", "'weights': weights.T"),
    whole_tiles_only=("depth, dram = (min(chip.rows, k - row), ", "depth, dram = (chip.rows, "),
    whole_blocks_only=("width = min(chip.cols, n - first)", "width = chip.cols"),
    always_adds=("int(row > 0)", "1"),
    adds_from_the_second_block_on=("int(row > 0)", "int(block > 0)"),
    one_entry_for_all=("at.params + block * 8 * chip.cols", "at.params"),
    never_a_relu=("0 if relu else -128", "-128"),
    always_a_relu=("0 if relu else -128", "0"),
    weights_column_by_column=("at.weights + row * n + first", "at.weights + first * k + row"),
    the_step_of_dram_on_the_chip=("w={m} step={depth} line={m * depth}",
                                  "w={m} step={k} line={m * k}"),
    the_same_columns_of_x=("dram={at.x + row}", "dram={at.x}"),
    y_block_by_block=("dram={at.y + first} h=1", "dram={at.y + first * m} h=1"),
    results_over_x=("acts={result} dram", "acts=0 dram"),
    with_halt=("return '\\n'.join(lines)", "return '\\n'.join([*lines, 'halt'])"),
    as_a_list=("return '\\n'.join(lines)", "return lines"),
    for_the_teaching_chip=(TILES, "range(0, k, 4)", "min(chip.rows, k - row)", "min(4, k - row)"),
    all_of_x_at_once=(TILES, "range(0, k, k)", "min(chip.rows, k - row)", "k"),
)  # fmt: skip


def _by_groups(m, k, n, relu, chip, most):
    """Each piece of x and of weights once for several blocks, whose sums lie side by side."""
    at, text, y, low = places(m, k, n, chip), [], chip.acts // 2, " low=0" if relu else ""
    most = max(1, min(most, chip.accs // m, chip.weights // 2 // (chip.rows * chip.cols)))
    for left in range(0, n, most * chip.cols):
        pitch = min(most * chip.cols, n - left)
        blocks = [*enumerate(range(left, left + pitch, chip.cols))]
        for row in range(0, k, chip.rows):
            d, turn = min(chip.rows, k - row), row // chip.rows % 2
            acts, base = turn * chip.acts // 4, turn * chip.weights // 2
            text.append(f"""lda dram={at.x + row} acts={acts} h=1 w={m} bytes={d} step={k} line=0
ldw bytes={pitch} pitch={n} dram={at.weights + row * n + left} weights={base} rows={d}""")
            for number, c in blocks:
                size = f"k={d} n={min(chip.cols, n - c)}"
                text.append(f"""preload weights={base + c - left} {size} pitch={pitch}
matmul acts={acts} h=1 w={m} step={d} line={m * d} {size} accs={number * m} add={int(row > 0)}""")
        for number, c in blocks:
            entry, w = c // chip.cols, min(chip.cols, n - c)
            text.append(f"""ldb params={entry % 2} dram={at.params + 8 * chip.cols * entry} count=1
act accs={number * m} n={w} params={entry % 2} acts={y} h=1 w={m} step={w} line={m * w}{low}
st acts={y} dram={at.y + c} h=1 w={m} bytes={w} step={n} line={n * m}""")
    return "\n".join(text) + "\n"


def _coded(tvm, function, program, *more):
    """Call by call, with another program."""
    found = {}
    for binding in function.body.blocks[0].bindings:
        call, name = binding.value, str(binding.value.op.name)
        if name == "relax.matmul":
            found["weights"] = np.array(call.args[1].value.numpy())
            n = found["weights"].shape[-1]
            found["bias"] = np.zeros((n,), "int32")
        elif name == "relax.add":
            side = 1 if isinstance(call.args[0], tvm.relax.Var) else 0
            found["bias"] = call.args[side].value.numpy()
        elif name == "relax.dequantize":
            found["scale"] = np.broadcast_to(call.args[1].value.numpy(), n)
    relu = any(b.value.op.name == "relax.nn.relu" for b in function.body.blocks[0].bindings)
    m, k = map(int, function.params[0].ty.shape)
    return found | {"program": program(m, k, n, relu, *more)}


alternatives(
    "u14_lab_byoc.generate",
    with_one_load_of_x_for_four_blocks=lambda tvm, f, chip: _coded(tvm, f, _by_groups, chip, 4),
    with_any_line=("line={m * k}", "line=0", "line={m * depth}", "line=1", "{m * n}", "99999"),
    spread=("calls['relax.dequantize'].args[1].value.numpy()" + ONES,
            "np.full(bias.shape, calls['relax.dequantize'].args[1].value.numpy())"),
)  # fmt: skip

# ── run ──

REGISTER = "tvm.register_global_func('relax.ext.chip', codegen, override=True)"
ARRAYS, FILLED = "[tensor.numpy() for tensor in tensors[:count]]", "zip(tensors[count:], results"
COPY = "tensor.copyfrom(result)"
mutants(
    "u14_lab_byoc.run",
    no_code_generator=(REGISTER, "pass"),
    of_another_name=("relax.ext.chip", "relax.ext.npu"),
    registered_once=("codegen, override=True", "codegen"),
    symbols_registered_once=("region, start), override=True", "region, start)"),
    before_codegen=("called = tvm.relax.transform.RunCodegen()(module)", "called = module"),
    only_the_first_region=("for region in regions", "for region in regions[:1]"),
    by_the_name_of_the_backend=("region.attrs['global_symbol']", "region.attrs['Codegen']"),
    results_first=(ARRAYS, "[t.numpy() for t in tensors[len(tensors) - count:]]",
                   "tensors[count:]", "tensors[:len(tensors) - count]"),
    results_returned_only=(COPY, "pass"),
    only_the_first_result=(f"{COPY}\n", f"{COPY}\n            break\n"),
    results_in_the_other_order=(FILLED, f"{FILLED}[::-1]"),
    a_tensor_not_an_array=("(tvm.runtime.tensor(x)).numpy()", "(tvm.runtime.tensor(x))"),
    operands_as_tensors=("tensor.numpy() for tensor", "tensor for tensor"),
    the_chip_starts_twice=("results = start(region,",
                           f"start(region, {ARRAYS})\n        results = start(region,"),
    # the loop's variable is read when the function is called
    the_last_region_in_all=("_packed(region, start)", "lambda *t: _packed(region, start)(*t)"),
)  # fmt: skip


@alternative("u14_lab_byoc.run")
def with_partial(tvm, module, x, start):
    def call(region, *tensors):
        results = start(region, tuple(t.numpy() for t in tensors[: len(region.params)]))
        for place, values in enumerate(results, len(region.params)):
            tensors[place].copyfrom(values)

    def codegen(regions, options, names):
        for r in regions:
            symbol = str(r.attrs["global_symbol"])
            tvm.register_global_func(symbol, partial(call, r), override=True)
        return []

    tvm.register_global_func("relax.ext.chip", codegen, override=True)
    divided = tvm.relax.transform.RunCodegen()(module)
    machine = tvm.relax.VirtualMachine(tvm.compile(divided), tvm.cpu())
    return machine["main"](tvm.runtime.tensor(x)).numpy()


alternatives(
    "u14_lab_byoc.run",
    with_a_lambda=("_packed(region, start)", "lambda *t, f=_packed(region, start): f(*t)"),
    with_a_tuple=(ARRAYS, "tuple(t.numpy() for t in tensors[:count])"),
    without_a_target=(", target=tvm.target.Target({'kind': 'llvm'})", ""),
)  # fmt: skip


ORDER, PLACES = "four rows, in another order", "any place: what is in use is waited for"
for slot_, old, new, because in (
    ("divided", "if bias:", "if not bias:", ORDER),
    ("divided", "if relu:", "if not relu:", ORDER),
    ("divided", "rows = [", "rows = [", ORDER),
    ("divided", "parts['bias'] = dpl.is_const()", "parts.setdefault", "the dict is new"),
    ("divided", "parts['real'] = value", "parts.setdefault", "the dict is new"),
    ("divided", "(value, parts['bias'])", "(parts['bias'], value)", "TVM matches both orders"),
    ("divided", "in inside.items()", "(inside.items()", "the last one is the result"),
    ("divided", "in found.items()", "list(found.items())[:-1]", "no one asks for that size"),
    ("divided", "by_column = sizes", "by_column = int(", "Relax allows no other length there"),
    ("divided", "numbers = [", "'sums_zero'", "both zero points are 0"),
    ("generate", "result = (places", "result = (", PLACES),
    ("generate", "lines, turn = ([], 0)", "1)", PLACES),
    ("generate", "acts, weights = (turn", "acts, weights = (", PLACES),
    ("generate", "enumerate(range(0, n", "reversed(list(enumerate(range(0, n", "in any order"),
    ("generate", "blocks[0].bindings", "[:-1]", "nothing is taken from `quantize`"),
    ("generate", "blocks[0]", "blocks[-1]", "there is one block"),
    ("generate", "params[0]", "params[-1]", "there is one parameter"),
    ("run", "in zip(tensors[count:]", "reversed(list(zip(", "results in any order"),
    ("run", "for tensor in tensors[:count]", "reversed(list(tensors[:count]))", "it is one"),
    ("run", "in regions:", "reversed(list(regions)):", "regions in any order"),
    ("run", "built = tvm.compile(called", "tvm.compile(called)", "TVM has a target by default"),
):  # fmt: skip
    equivalent(f"u14_lab_byoc.{slot_}", old, new, because=because)
