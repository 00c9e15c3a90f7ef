"""Unit 17: what it says of tinygrad is true of tinygrad, and its programs mean what they say."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("tinygrad")

from autograder.check.framework import Wrong, alternatives_of, mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.units.u17.checks.facts import extremes, holds
from course_lib.exercises import plugged, slot, using
from course_lib.plugins.rewriting import operations, rewritten, rules_of
from course_lib.plugins.staged import read_staged, run_staged, stored_bytes
from lessons.u17 import boundaries, rows, rules, tensors, wild

HEARD = [
    "u17.culprit",
    "u17.windows",
    "u17.normalized",
    "u17.bounds",
    "plugins.narrowed",
    "u17.laws",
]


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict = judge(name, call, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


@pytest.mark.parametrize(
    ("mutant", "quoted"),
    [
        ("the_product_of_the_ends", "A pair covers every value that its row can then have"),
        ("a_remainder_is_anything", "no narrower pair does"),
        ("division_as_in_c", "divide row i by the positive number c"),
        ("a_square_is_not_negative", "independently of each other"),
        ("nothing_is_less_than_itself", "independently of each other"),
    ],
)
def test_bounds_that_are_wrong_quote_the_sentence_that_is_violated(mutant, quoted):
    with plugged("u17.bounds", mutants_of("u17.bounds")[mutant]):
        call = Here(slot("u17.bounds"))
        with using({}):
            spec = judge("u17.bounds", call).spec
    assert quoted in spec and '"add", "mul"' not in spec


def test_the_numbers_of_the_opening_question():
    assert [line.split()[-1] for line in wild.opening().splitlines()] == ["128", "128", "0"]


def test_bytes_below_zero_are_126():
    x = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int32)
    assert (2 * x + 5 < 0).sum() == 126


def test_our_answer_about_the_pages_is_what_the_pages_say():
    """The first page that compares nothing, and the first false bounds on the page before it."""
    names = list(boundaries.COUNT)
    at = next(k for k, page in enumerate(boundaries.COUNT.values()) if "CMPLT" not in page)
    found = bounds_in(boundaries.COUNT[names[at - 1]])
    line, taken = next((line, taken) for line, (claimed, taken) in found.items()
                       if taken[0] < claimed[0] or taken[1] > claimed[1])  # fmt: skip
    assert slot("u17.culprit").reference() == (names[at], line, taken)


def bounds_in(page):
    """For each line that is computed from a byte: the bounds of the page, and those over all 256
    bytes."""
    values, found = {}, {}
    for text in page.splitlines():
        name, op, inside, low, high = re.findall(
            r"(%\d+) += (\w+)\(([^)]*)\) *(-?\d*)(?: \.\. )?(-?\d*)", text)[0]  # fmt: skip
        words = inside.split(", ")
        if (op == "INDEX" and words[-1] != "0") or op == "BUFFER":
            values[name] = list(range(256))
        elif words[0] in values and op in ("CAST", "MUL", "ADD", "CMPLT"):
            values[name] = [computed(op, x, words[1]) for x in values[words[0]]]
        if name in values and low:
            found[name] = ((int(low), int(high)), (min(values[name]), max(values[name])))
    return found


def computed(op, x, word):
    if op == "CAST":
        return rows.wrapped(x, "int8") if "char" in word else x
    return {"MUL": x * int(word), "ADD": x + int(word), "CMPLT": int(x < int(word))}[op]


def test_with_true_bounds_it_counts_right_and_tinygrad_is_as_before():
    bounds = slot("u17.bounds").reference
    found = []
    for make in (wild.below, boundaries.count, wild.overflown):
        with rows.asked(bounds) as differences:
            found.append((int(wild.run(make)), set(differences)))
    cast, add = ("cast", (0, 127), (-128, 127)), ("add", (10, 265), (0, 255))
    assert found == [(128, {cast}), (126, {cast}), (0, {add})]
    assert [int(wild.run(make)) for make in (wild.below, boundaries.count, wild.overflown)] == [
        0
    ] * 3


def test_a_rule_that_knows_no_limits_loses_the_sums_that_wrap():
    """True bounds do not mend x + 10 < 5 over bytes: it becomes x < 5 - 10."""
    x = np.arange(256, dtype=np.uint8)
    assert (x + np.uint8(10) < 5).sum() == 5
    from tinygrad.dtype import dtypes
    from tinygrad.uop.ops import UOp
    from tinygrad.uop.symbolic import symbolic

    with rows.asked(slot("u17.bounds").reference):
        byte = UOp.variable("x", 0, 255, dtype=dtypes.uint8)
        after = symbolic.rewrite(byte + 10 < 5)
    assert after is not None and after.op.name == "CMPLT"
    assert after.src[0] is byte and after.src[1].simplify().val == -5


@pytest.mark.parametrize(
    "text, count",
    [("s = sum x 1", 1), ("s = sum x 1\nt = largest x 1\ny = add s t", 1),
     ("s = sum x 1\nm = max s 0\nt = sum m 0", 1), ("s = sum x 1\nt = flip s 0\ny = add s t", 2),
     ("s = sum x 1\nt = reshape s 8,1\ny = mul x t", 2), ("y = mul x x", 1),
     ("s = sum x 1\na = shrink s 0:4\nb = shrink s 4:8\ny = add a b", 2)],
)  # fmt: skip
def test_what_the_scheduler_stores(text, count):
    assert tensors.kernels(text, x=(8, 8)) == count


def test_large_sums_and_elementwise_results_of_many_arrays_are_stored_as_well():
    assert tensors.kernels("s = sum x 1", x=(2, 65536)) == 2
    text = "p = mul a b\nq = mul c d\nr = add p q\nt = flip r 0\ny = add r t"
    assert tensors.kernels(text, a=(8,), b=(8,), c=(8,), d=(8,)) == 2
    text = "p = mul a b\nr = add p c\nt = flip r 0\ny = add r t"
    assert tensors.kernels(text, a=(8,), b=(8,), c=(8,)) == 1


@pytest.mark.parametrize(
    "text, count, sizes",
    [("s = sum x 1\nr = sqrt s\nt = flip r 0\ny = add r t", 2, {"x": (8, 8)}),
     ("r = sqrt x\nt = flip r 0\ny = add r t", 1, {"x": (8, 8)}),
     ("u = add a b\nv = add u c\nw = add v d\nr = sqrt w\ny = mul r x", 2,
      {**dict.fromkeys("abcd", (8, 1)), "x": (8, 8)}),
     ("u = add a b\nv = add u c\nr = sqrt v\ny = mul r x", 1,
      {**dict.fromkeys("abc", (8, 1)), "x": (8, 8)})],
)  # fmt: skip
def test_a_store_is_taken_back_unless_there_is_a_reduction_or_a_fourth_array(text, count, sizes):
    assert tensors.kernels(text, **sizes) == count


@pytest.mark.parametrize("length, count", [(32_768, 2), (32_771, 1), (32_822, 1), (65_537, 1)])
def test_a_long_sum_takes_two_kernels_only_if_its_axis_can_be_divided(length, count):
    assert tensors.kernels("s = sum x 0", x=(length,)) == count


def test_a_rule_on_its_own_result_may_end_or_not(monkeypatch):
    from tinygrad.uop import Ops, ops
    from tinygrad.uop.ops import PatternMatcher, UOp, UPat, graph_rewrite

    monkeypatch.setattr(ops, "REWRITE_STACK_LIMIT", 1_000)  # from 250,000, which takes a minute

    def moved(p, a, b):
        return p + (a + b)

    x, y, z, w = (UOp.variable(name, 0, 9) for name in "xyzw")
    p, a, b = (UPat.var(name) for name in "pab")
    ordered = UPat(Ops.ADD, src=(UPat(Ops.ADD, src=(p, a)), b))
    done = graph_rewrite(((x + y) + z) + w, PatternMatcher([(ordered, moved)]))
    assert done is x + (y + (z + w))
    with pytest.raises(RuntimeError, match="infinite loop"):
        graph_rewrite(((x + y) + z) + w, PatternMatcher([((p + a) + b, moved)]))


def test_programs_mean_in_tinygrad_what_they_mean_in_numpy():
    from course_lib.plugins.tinygrad.jit import llvm_device
    from course_lib.plugins.tinygrad.session import session

    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    texts = [slot("u17.normalized").reference(4, 6),
             "a = flip x 1\nb = pad a 1:0,0:2\nc = shrink b 0:3,2:7\nd = lt c 0.5\n"
             "e = where d c 2\nf = permute e 1,0\ng = largest f 0\nh = exp2 g"]  # fmt: skip
    with session(llvm_device()):
        from tinygrad.tensor import Tensor

        for text in texts:
            got = tensors.tensor(text, x=Tensor(x)).numpy()
            assert np.allclose(got, tensors.result(text, x=x), atol=1e-4)


def test_a_variable_without_a_value_is_named():
    verdict = judge("u17.laws", mutants_of("u17.laws")["a_variable_without_a_value"])
    assert verdict.problem == "Rule 2 needs values for x and y only.", verdict


def test_a_range_of_one_number_is_told_as_one():
    verdict = judge("u17.bounds", mutants_of("u17.bounds")["a_comparison_is_unknown"])
    assert verdict.problem == "%2 never gets that far: it is always 1."


def test_readers_that_get_another_type_are_told_so():
    verdict = judge("plugins.narrowed", mutants_of("plugins.narrowed")["readers_get_int8"])
    assert verdict.problem == "The last line was of type int32 and is int8 now."
    assert verdict.spec.startswith("The readers get the type")


def test_a_rule_that_matches_within_its_own_result_is_called_endless():
    """tinygrad raises a KeyError for it, with an operation as its words."""
    from tinygrad.uop import Ops
    from tinygrad.uop.ops import PatternMatcher, UPat

    text = "x = param int32 4\ni = range 4\na = index x i\nb = max a 0\nc = mul b 3\n"
    with pytest.raises(RuntimeError, match="applied to its own result without end"):
        rewritten(text, PatternMatcher([(UPat(Ops.MAX, name="b"), lambda b: b + 1)]))
    with pytest.raises(KeyError, match="mine"):
        rewritten(text, PatternMatcher([(UPat(Ops.MAX, name="b"), lambda b: {}["mine"])]))


def test_lines_that_make_too_much_together_are_refused():
    text = "".join(f"a{k} = pad x 0:262142\n" for k in range(17))
    with pytest.raises(ValueError, match="all lines together"):
        tensors.values(text, {"x": np.ones(2)})


def test_one_kernel_is_possible_for_rows():
    text = alternatives_of("u17.normalized")["sums_written_out_as_additions"](16, 64)
    assert tensors.kernels(text, x=(16, 64)) == 1


def test_windows_leave_one_addition_in_the_index():
    text = boundaries.convolved(slot("u17.windows").reference(10, 3))
    kernel = boundaries.kernel_of(text, x=(10,), the_weights=(3,))
    assert kernel.count("RANGE(") == 2 and kernel.count("ADD(") == 1
    assert "MOD" not in kernel and "WHERE" not in kernel


def test_our_rule_follows_false_bounds():
    """The program of the explanation: 200 is -184, and 72 when it is stored in 8 bits."""
    text = ("x = param uint8 4\ni = range 4\na = index x i\nb = cast a int8\nc = cast b int32\n"
            "d = add c -128\ns = stage d i\nj = range 4\nt = index s j\nu = add t 0\n")  # fmt: skip
    after = slot("plugins.narrowed").reference(text)
    values = []
    for program in (text, after):
        lines = read_staged(program)
        x = next(line.name for line in lines if line.op == "param")
        values.append(int(run_staged(lines, {x: np.full(4, 200, np.uint8)}).ravel()[0]))
    assert values == [-184, 72]
    said = wild.tried(slot("plugins.narrowed").reference, text, 200)
    assert said == "without the rule -184, with it 72"


def test_the_rule_brings_all_products_to_the_chip():
    off, on = wild.share(False), wild.share(True)
    assert round(100 * off.macs_share) == 62 and on.macs_share == 1
    with plugged("plugins.narrowed", mutants_of("plugins.narrowed")["no_rule"]):
        assert wild.share(True).macs_share == off.macs_share


def test_lines_become_operations_and_lines_again():
    from tinygrad.uop.ops import PatternMatcher

    text = ("x = param int16 4\ni = range 4\na = index x i\nb = lt a 3\nc = where b a 7\n"
            "s = local c i\nj = range 4\nt = index s j\nu = sum t j\n")  # fmt: skip
    again = rewritten(text, PatternMatcher([]))
    assert rewritten(again, PatternMatcher([])) == again
    assert stored_bytes(read_staged(again)) == 0
    assert [line.op for line in read_staged(again)] == [line.op for line in read_staged(text)]
    assert operations(text).op.name == "REDUCE"
    assert rules_of(lambda program: "").patterns == []


def test_five_of_the_ten_rules_are_false():
    assert [number for number in rules.RULES if not holds(number)] == [2, 3, 7, 8, 9]


def test_a_cast_is_tried_with_all_values():
    found = extremes(("cast", 0, "int8"), [(130, 140)])
    assert found is not None and found[0] == (-126, -116)
    assert rows.wrapped(130, "int8") == -126


@pytest.mark.parametrize(
    "text",
    ["", "x", "y = reshape x 1,2,", "y = expand x 99999999999", "y = sum x 5", "y = nothing x",
     "y = pad x 0:999999", "y = add x z", "x = max x 0", "y = reshape x " + "1," * 200 + "1",
     "y = max x 0\n" * 100, "y = mul x 1e400", "y = flip x 0,0", "y = reshape x -1"],
)  # fmt: skip
def test_a_hostile_text_is_a_wrong_answer(text):
    from autograder.units.u17.checks.programs import right_rows, right_windows
    from autograder.units.u17.checks.stored import kept_values, small

    with pytest.raises(Wrong):
        right_windows(lambda n, k: text, 4, 2)
    with pytest.raises(Wrong):
        right_rows(lambda n, k: text, 4, 2, np.random.default_rng(0))
    with pytest.raises(Wrong):
        kept_values(lambda program: text, small())


def test_other_compilers_say_what_is_recorded(run_notebook):
    (_, low, high, counted, _), shown = wild.TVM, run_notebook("instructor", unit=17).text
    assert re.search(rf"TVM.* {low} \.\. {high} +counts {counted}\n", shown)
    assert wild.inductors() == "unknown"
    assert wild.tinygrads() == "0 .. 127"
    assert wild.llvms()[1:] == ("-128 .. 127", "makes x < -2 of it")


def test_llvm_compares_the_byte_only_because_nothing_overflows():
    from course_lib.llvm.inspect.fixed import optimized

    body = "%b = mul i32 %a, 2\n%c = add i32 %b, 5\n"
    wide = f"define i32 @f(i8 %x) {{\n%a = sext i8 %x to i32\n{body}ret i32 %c\n}}"
    assert "range(i32 -251, 260)" in optimized(wide)
    compared = f"define i1 @f(i32 %a) {{\n{body}%d = icmp slt i32 %c, 0\nret i1 %d\n}}"
    assert "add i32" in optimized(compared)
