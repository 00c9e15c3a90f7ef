"""Unit 5: what it says about LLVM is what LLVM does, its evidence is true, its words help."""

import ctypes
import re
import subprocess
from collections import Counter
from dataclasses import replace

import llvmlite.binding as llvm
import numpy as np
import pytest

import course_lib
from autograder.check.blocks import programs
from autograder.check.examples import examples_of
from autograder.check.framework import Wrong, checks_of, mutants_of
from autograder.units.u05.checks.counter import PIECES
from autograder.units.u05.checks.flow import BOTH, CASES, OUT, all_that_follows
from autograder.units.u05.checks.written import CALLS, ONCE, VECTORS
from autograder.validate import verdict_of
from course_lib.exercises import baselines, plugged, slot
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.registry import flops
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.inspect.constants import sccp
from course_lib.llvm.inspect.fixed import optimized
from course_lib.llvm.inspect.fma import count_fma, fused, parse
from course_lib.llvm.inspect.llvm_interp import execute
from course_lib.llvm.inspect.rows import Blocks, Row, as_python, computed, rows_of, run
from course_lib.models import MODELS, example_inputs
from course_lib.runtime.executable import CompiledModel
from lessons.u05.listings import (
    DOT,
    ONE_SUM,
    PIXELS,
)
from lessons.u05.models import REFERENCE_COUNTS, asked_of, counts_of, kernels_of
from lessons.u05.plugin import (
    LOOPS,
    RECORDED_FREQUENCIES,
    block_frequencies,
    counted_in_cpp,
)
from lessons.u05.small import NESTED, SMALL
from lessons.u05.tools import (
    Unfinished,
    counted_steps,
    drawn,
    edges_of,
    few,
    machine_lanes,
    on_processors,
    side_by_side,
    steps,
)

NAMES = (
    "u05.offset",
    "u05.four_sums",
    "llvm.constants",
    "u05.passes",
    "llvm.fma.arithmetic",
    "llvm.control.balanced",
)
CLANG = ("-O0", "-Xclang", "-disable-O0-optnone", "-ffp-contract=fast", "-fno-math-errno",
         "-fno-discard-value-names", "-S", "-emit-llvm", "--target=x86_64-linux-gnu",
         "-march=haswell", "-x", "c", "-", "-o", "-")  # fmt: skip
REORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")


# ── the listings ──


def test_the_offset_is_what_the_processor_computes():
    """The address of the load, handed out instead of the sum."""
    text = PIXELS.replace("define float", "define i64").replace(
        "%sum = phi float [ 0.0, %entry ], [ %more, %loop ]",
        "%sum = phi i64 [ 0, %entry ], [ %more, %loop ]",
    )
    text = text.replace("%v = load float, ptr %p", "%more = ptrtoint ptr %p to i64")
    text = text.replace("  %more = fadd float %sum, %v\n", "").replace("ret float", "ret i64")
    engine = llvm.create_mcjit_compiler(parse(text), target_machine())
    engine.finalize_object()
    last = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * 3)(
        engine.get_function_address("channel")
    )
    for turn in range(5):
        for channel in range(3):
            expected = slot("u05.offset").reference(turn, channel)
            assert last(0, channel, 2 + 2 * turn) == expected


# ── what the text says of the dot product ──


def test_the_story_of_the_dot_product():
    states = steps(DOT)
    names = [name.split()[0] for name, _ in states]
    counts = [count_fma(text, {"n": 543})["dot"] for _, text in states]
    executed = [None if c.dynamic is None else fused(c.dynamic) for c in counts]
    first = names.index("SROA")
    assert executed[:first] == [None] * first
    assert set(executed[first:]) == {543}
    assert (counts[-1].dynamic or {})["add"] == 36
    assert {"LoopRotate", "LoopVectorize"} <= set(names)
    at = names.index("LoopVectorize")
    static = [fused(c.static) for c in counts]
    assert set(static[:at]) == {1} and set(static[at:]) == {37}
    assert len(states) == 31, "30 changes"
    assert "phi" not in states[first - 1][1] and "phi" in states[first][1]
    assert all(count_fma(text)["dot"].dynamic is None for _, text in states), "without an n"
    assert "icmp slt i32 0, %n" in states[names.index("LoopRotate")][1], "a copy in front"
    shown = ["as clang wrote it", "change 2: SROA", "change 9: LoopRotate",
             "change 21: LoopVectorize", "after change 30"]  # fmt: skip
    assert [name for name, _ in few(states)] == shown


def test_instruction_selection_fuses_what_is_counted():
    found = machine_lanes(optimized(DOT))
    assert sorted(n for _, n in found) == [1, 4, 8, 8, 8, 8]
    assert machine_lanes(optimized(DOT), "x86-64") == [], "a machine without the instruction"


def test_the_optimizer_of_other_processors_leaves_other_counts():
    processors = ("haswell", "skylake-avx512", "sapphirerapids", "znver4", "x86-64")
    found = [fused(count_fma(optimized(DOT, cpu))["dot"].static) for cpu in processors]
    assert found == [37, 37, 37, 73, 9]


def test_processors_fuse_as_the_text_says():
    rows = [line.split()[-5:] for line in on_processors().text.splitlines()[1:]]
    assert [list(map(int, row)) for row in rows] == [
        [1, 0, 1, 1, 1],
        [1, 0, 1, 1, 1],
        [0, 0, 0, 0, 2],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 1, 1],
    ]  # your count, x86-64, Haswell, Neoverse N1, POWER9


def test_what_neoverse_moves_is_the_sum(require_tool):
    """SimplifyCFG puts it beside the product, and a select in place of the branch."""
    command = [require_tool("llc-22"), "-mtriple=aarch64", "-mcpu=neoverse-n1", "-o", "-"]
    command += ["-print-after=simplifycfg"]
    text = SMALL["the sum is in another block"]
    said = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stderr
    (block,) = re.findall(r"^common.ret:\n(.*?)^}", said, re.M | re.S)
    words = re.findall(r"= (?:\w+ )*?(fmul|fcmp|fadd|select) ", block)
    assert words == ["fmul", "fcmp", "fadd", "select"]


def test_what_an_operation_takes(require_tool):
    """In LLVM's description of Haswell: cycles of latency, and cycles between two of a kind."""
    text = "vaddss %xmm0, %xmm1, %xmm2\nvfmadd231ss %xmm0, %xmm1, %xmm4\n"
    command = [require_tool("llvm-mca-22"), "-mcpu=haswell", "-mtriple=x86_64", "-iterations=1"]
    said = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ 1 +(\d+) +([\d.]+) +(v\w+)", said, re.M)
    assert found == [("3", "1.00", "vaddss"), ("5", "0.50", "vfmadd231ss")]


def test_two_loads_take_a_cycle(require_tool):
    """In LLVM's description of Haswell: the next limit after the chain."""
    text = "vmovss (%rdi,%rax,4), %xmm4\nvfmadd231ss (%rsi,%rax,4), %xmm4, %xmm0\n"
    command = [require_tool("llvm-mca-22"), "-mcpu=haswell", "-mtriple=x86_64"]
    said = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"Block RThroughput: +([\d.]+)", said) == ["1.0"]


def test_a_chain_and_four():
    ones = np.ones(512, np.float32)
    text = side_by_side(one=ONE_SUM, four=slot("u05.four_sums").reference()).text
    assert [line.split()[1:3] for line in text.splitlines()[1:]] == [["512", "513"], ["512", "131"]]
    assert execute(ONE_SUM, ones, ones, 512).chain == 513
    assert execute(slot("u05.four_sums").reference(), ones, ones, 512).chain == 131


def test_llvm_guesses_what_the_text_says(require_tool):
    require_tool("opt-22")
    text = optimized(DOT)
    guess = block_frequencies(text)
    assert guess is not None
    assert {name: guess[name] for name in RECORDED_FREQUENCIES} == RECORDED_FREQUENCIES
    for loop, before in LOOPS.items():
        assert guess[loop] / guess[before] == pytest.approx(32, rel=0.01)
    exact = count_fma(text, {"n": 543})["dot"]
    runs = {name: n for (name, _), n in zip(exact.blocks, exact.runs.blocks, strict=True)}
    assert [runs[name] for name in LOOPS] == [16, 7, 3]


LINES = """
      if (auto *call = dyn_cast<IntrinsicInst>(&i)) {
        auto id = call->getIntrinsicID();
        if (id == Intrinsic::fma || id == Intrinsic::fmuladd)
          count += lanes(i);
      }
      bool sum = i.getOpcode() == Instruction::FAdd || i.getOpcode() == Instruction::FSub;
      if (sum && i.hasAllowContract() && (fits(i.getOperand(0), i) || fits(i.getOperand(1), i)))
        count += lanes(i);
"""


def test_the_lines_of_the_plugin(require_tool):
    for name in ("clang++-22", "llvm-config-22", "opt-22"):
        require_tool(name)
    counts = counted_in_cpp(LINES, DOT, optimized(DOT))
    assert counts == [{"dot": 1}, {"dot": 37}]
    with pytest.raises(ValueError, match="undeclared identifier 'nothing'"):
        counted_in_cpp("count += nothing;", DOT)


# ── three counts ──


@pytest.mark.parametrize("name", REFERENCE_COUNTS)
def test_the_three_counts(name, imported):
    """The same for vectors of other lengths."""
    found = counts_of(imported(name))
    assert (found.formula, found.emitted, found.chip) == REFERENCE_COUNTS[name]
    assert 0.99 * found.emitted < found.optimized <= found.emitted


def test_pytorch_counts_by_the_formula():
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    for name, (formula, _, _) in REFERENCE_COUNTS.items():
        with FlopCounterMode(display=False) as counter:
            MODELS[name].build()(*map(torch.from_numpy, example_inputs(name)))
        assert counter.get_total_flops() == 2 * formula


def test_where_the_block_has_more(imported):
    from course_lib.llvm.inspect.work import work

    run = course_lib.compile(imported("block"), threads=1)
    assert isinstance(run, CompiledModel)
    nodes = {step.kernel.name: step.node for step in run.program.steps if step.kernel}
    more = {
        w.name.split("_")[0] + "_" + str(w.calls): w.calls
        * (fused(w.emitted) - asked_of(nodes[w.name]))
        for w in work(run.program, run.code)
        if w.emitted is not None and fused(w.emitted) != asked_of(nodes[w.name])
    }
    assert sum(more.values()) == REFERENCE_COUNTS["block"][1] - REFERENCE_COUNTS["block"][0]
    assert sorted(more.values()) == [131_328, 524_288, 1_310_720]
    assert kernels_of(imported("block")).text.count("\n") == 8
    for op, each in [("gelu", 10), ("exp", 8)]:
        text = f"graph @f(%x: f32[64]) -> (f32[64]) {{\n  %0 = {op}(%x) : f32[64]\n  return %0\n}}"
        assert counts_of(parse_graph(text)).emitted == 64 * each
    assert all(flops(node) >= 2 * asked_of(node) for node in nodes.values())


def test_without_an_answer_the_library_says_less_and_nothing_wrong():
    with baselines("llvm.control.balanced"):
        count = count_fma(ONE_SUM, {"n": 7})["dot"]
    assert count.static == {"pair": 1}
    assert count.dynamic is None and set(count.unknown) == {"loop"}


def test_an_answer_that_does_not_work_is_told_so_in_one_line():
    with plugged("llvm.control.balanced", lambda edges, known: {}):
        with pytest.raises(Unfinished, match=r'needs a right answer; check\("llvm.fma') as told:
            counted_steps(steps(DOT), {"n": 543})
        assert len(told.value._render_traceback_()) == 1
    with pytest.raises(Unfinished, match=r'check\("u05.four_sums"\) says more. ValueError'):
        side_by_side(one=ONE_SUM, yours="hello")


def test_the_picture_of_two_loops_keeps_their_ways_apart():
    counts = slot("llvm.control.balanced").reference(edges_of(NESTED), {0: 1, 1: 5, 2: 35})
    picture = drawn(NESTED, counts)
    lanes = re.findall(r"M[\d.]+[ ,][\d.]+H([\d.]+)V", picture.svg)
    assert len(lanes) == len(set(lanes)) == 2
    assert "2: inner: runs 35 -> 3: after (5), 2: inner (30)" in picture.text


# ── what is known before anything runs ──


def text_of(blocks: Blocks, shown: bool) -> str:
    """Rows as LLVM IR; if `shown`, a call shows each register: `call void @see.x(i64 %x)`."""
    lines, declared = ["define i64 @f(i64 %n) {"], ["declare i64 @other()"]
    for block, rows in blocks.items():
        calls = [f"void @see.{row[0]}({'i1' if row[0][0] == 'c' else 'i64'} %{row[0]})"
                 for row in rows if row[0] and shown]  # fmt: skip
        declared += [f"declare {call.partition(' %')[0]})" for call in calls]
        # all of a block's at its end: nothing stands between the phis
        lines += [f"{block}:", *map(ir_line, rows[:-1]), *(f"call {call}" for call in calls)]
        lines.append(ir_line(rows[-1]))
    return "\n".join([*lines, "}", *declared])


def ir_line(row: Row) -> str:
    result, op, *operands = row
    names = [f"%{o}" if isinstance(o, str) else str(o) for o in operands]
    if op == "br":
        condition = f"i1 {names[0]}, " if len(names) == 3 else ""
        return f"br {condition}" + ", ".join(f"label {name}" for name in names[-2:][-len(names) :])
    if op == "phi":
        names = [f"[ {'%' * isinstance(o, str)}{o}, %{block} ]" for block, o in operands]
    what = {"ret": "ret i64", "phi": "phi i64", "call": "call i64 @other()"}.get(op, op)
    return (f"%{result} = " if result else "") + f"{what} " + ", ".join(names * (op != "call"))


def drawn_programs(count: int, most: int) -> list[Blocks]:
    """As a check of the exercise draws its own."""
    check = next(check for check in checks_of("llvm.constants") if check.given is not None)
    return examples_of.__wrapped__(replace(check, given=programs(most), examples=count), 5)


def test_our_constants_are_those_of_llvm():
    """What we call constant is so for SCCP, and what we say never runs is gone. It knows more where
    it keeps ranges (x is 0 or 1, so it is less than 5), by algebra, and after undefined values."""
    constants = slot("llvm.constants").reference
    equal = several = 0
    for blocks in drawn_programs(150, 5):
        after = sccp(text_of(blocks, shown=True))
        theirs = dict(re.findall(r"call void @see\.(\w+)\(i\d+ (\S+)\)", after))
        numbers, runs = constants(blocks)
        left = {row[0] for block in runs for row in blocks[block] if row[0]}
        assert theirs.keys() <= left, as_python(blocks)
        for name in numbers.keys() & theirs.keys():
            number = {"true": "1", "false": "0"}.get(theirs[name], theirs[name])
            assert number in (str(numbers[name]), "poison"), as_python(blocks)
        known = {name for name, word in theirs.items() if not word.startswith("%")}
        equal += (theirs.keys(), known) == (left, numbers.keys())
        several += len(runs) > 2 and len(numbers) > 0
    assert equal > 100 and several > 40, (equal, several)


def test_what_is_constant_is_so_when_the_program_runs():
    """By the interpreter of LLVM IR: the result of a call, and the blocks that it went through."""
    calls = 0
    for blocks in drawn_programs(150, 5):
        numbers, runs = slot("llvm.constants").reference(blocks)
        for n in (0, 3, -5):
            try:
                execution = execute(text_of(blocks, shown=False), n, steps=300)
            except ValueError:  # it calls, does not come to an end, or divides by 0
                continue
            calls += 1
            seen, path = run(blocks, n, steps=400)
            assert Counter(path) == execution.blocks and set(path) <= runs
            last = blocks[path[-1]][-1][2]
            assert execution.value == (seen[last][-1] if last in seen else last) % 2**64
            assert numbers.get(last, seen.get(last, [0])[-1]) == seen.get(last, [0])[-1]
    assert calls > 100


def test_the_loops_that_never_run_for_20_elements():
    head, body = optimized(DOT).split("{", 1)
    text = head + "{" + body.replace("%n ", "20 ").replace("%n,", "20,")
    numbers, runs = slot("llvm.constants").reference(rows_of(text))
    assert runs == set(rows_of(sccp(text)))
    assert [loop in runs for loop in LOOPS] == [False, True, False]
    assert numbers["n.vec22"] == 20


def test_rows_have_the_numbers_and_names_of_the_text():
    text = """define i64 @f(i32 %n, float %x) {
  %1 = sext i32 -1 to i64
  %2 = icmp slt i32 %n, 3
  %3 = fadd float %x, 1.0
  br i1 true, label %"a b", label %c
"a b":
  ret i64 %1
c:
  unreachable
}"""
    assert rows_of(text) == {
        "0": [("1", "sext i32 to i64", -1), ("2", "icmp slt i32", "n", 3), ("3", "fadd", "x", "?"),
              (None, "br", 1, "a b", "c")],
        "a b": [(None, "ret", "1")],
        "c": [(None, "unreachable")],
    }  # fmt: skip
    assert computed("sext i32 to i64", -1) == -1
    assert computed("add i8", 100, 100) == -56 and computed("icmp ult i8", -1, 1) == 0
    assert computed("fadd", 1, 2) is None and computed("sdiv i8", -128, -1) is None
    switch = "define void @f(i8 %n) {\n switch i8 %n, label %a []\na:\n ret void\n}"
    with pytest.raises(ValueError, match="a block ends with switch"):
        rows_of(switch)


# ── feedback ──


def test_each_case_quotes_its_specification():
    for name, words in [
        ("llvm.fma.arithmetic", [piece.spec for piece in PIECES]),
        ("llvm.control.balanced", [spec for spec, *_ in CASES]),
    ]:
        said = " ".join(slot(name).doc.split())
        assert not [spec for spec in words if " ".join(spec.split()) not in said]


def test_the_stand_in_earns_nothing():
    simple = slot("llvm.control.balanced").baseline
    assert simple is not None
    assert verdict_of(slot("llvm.control.balanced"), lambda *args: simple(*args)).earned == 0


def test_hostile_text_is_refused_in_words():
    right = slot("u05.four_sums").reference()
    forever = right.replace("%next = add i64 %i, 4", "%next = add i64 %i, 0")
    assert forever != right
    stops = "define float @dot(ptr %x, ptr %y, i64 %n) {\n  unreachable\n}"
    for text in ("", "x" * 60_000, forever, stops, 7):
        verdict = verdict_of(slot("u05.four_sums"), lambda text=text: text)
        assert (verdict.kind, verdict.earned) == ("wrong", 0)
    strange = f'target datalayout = "what"\n!0 = !{{}}\n{right}'
    verdict = verdict_of(slot("u05.four_sums"), lambda: strange)
    assert verdict.kind == "passed", "LLVM gets none of what our reader passes by"


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=5).text
    for name in NAMES:
        points, bonus = slot(name).points, "bonus " * slot(name).further
        assert f"{name}: passed ({points} of {points} {bonus}points)" in text
    assert "needs your answer" not in text
    for found in ("it is 37 multiply-adds.", "your counts: [1, 5, 35, 5, 1]",
                  "formula 2,457, LLVM IR 2,457, chip 2,457 useful of 3,456",
                  "640 multiply-adds for 64 numbers", "your counts are those of the reference",
                  "109,051,904 multiply-adds",
                  "111,018,240", "21,757,952", "lanes: 37",
                  "vec.epilog.vector.body       you: True   LLVM: True",
                  "vector.body                  you: False  LLVM: False"):  # fmt: skip
        assert found in text


def test_a_guess_is_told_that_no_rule_gives_it():
    """Not what the count would have to be: the rules say nothing of it."""
    edges, known, truth = [(0, 1), (0, 2), (1, 3), (2, 3)], {0: 3}, {0: 3, 1: 2, 3: 3, (0, 1): 2}
    with pytest.raises(Wrong, match="Neither rule gives block 1 the count 1") as told:
        all_that_follows(lambda edges, known: {**known, 1: 1}, (edges, known, truth))
    assert told.value.spec == OUT


def test_a_sum_that_is_none_is_told_with_its_edges():
    edges, known, truth = [(0, 1), (0, 2)], {0: 3, (0, 1): 1}, {}
    wrong = {**known, (0, 2): 3, 1: 1, 2: 3}
    with pytest.raises(Wrong, match="The edges out of it are taken 4 times in total") as told:
        all_that_follows(lambda edges, known: wrong, (edges, known, truth))
    assert told.value.spec == BOTH


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("%m = alloca float", ONCE),
        ("%v = load <4 x float>, ptr %x", VECTORS),
        ("%v = call float @llvm.fabs.f32(float 0.0)", CALLS),
        ("%v = frobnicate i64 %i", ""),
        ("%v = add i64 %i, i64 %i", ""),
    ],
)
def test_a_refused_instruction_quotes_what_it_breaks_or_nothing(line, sentence):
    right = slot("u05.four_sums").reference()
    text = right.replace("  %next =", f"  {line}\n  %next =")
    verdict = verdict_of(slot("u05.four_sums"), lambda: text)
    assert verdict.kind == "wrong" and verdict.spec.startswith(sentence)
    assert bool(verdict.spec) == bool(sentence)


def test_a_counterexample_of_balanced_shows_few_edges():
    """Also one on which only a row of 240 blocks shows what is wrong."""
    wrong = mutants_of("llvm.control.balanced")
    for name in ("one_round", "blocks_are_numbered_from_0", "a_hundred_rounds"):
        verdict = verdict_of(slot("llvm.control.balanced"), wrong[name])
        assert verdict.kind == "wrong" and verdict.program.count(", (") < 20, name
    assert "239 in all" in verdict.program  # of the last one, which needs more than that
