"""The counter of multiply-adds says what stands in the IR, and what a call of it executes.

Three witnesses: counters built into the functions say how often their blocks really ran, LLVM's
scalar evolution how often a loop turns, and the machine code how many multiply-adds there are. The
pass plugin says the same as Python, number for number.
"""

import ctypes
import json
import random
import re
import subprocess
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.inspect.control.numbers import holds
from course_lib.llvm.inspect.control.trips import Line, first
from course_lib.llvm.inspect.fma import count_fma, parse
from course_lib.llvm.inspect.plugin.build import TOOLS, build, counted, tool

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*.ll"))
EXPECTED = [
    pytest.param(path, json.loads(line), id=f"{path.stem}-{k}")
    for path in FILES
    for k, line in enumerate(re.findall(r"^; expect (.*)$", path.read_text(), re.M))
]


@pytest.fixture(scope="session")
def plugin(once, require_tool) -> Path:
    """The compiled pass plugin."""
    for name in TOOLS:
        require_tool(name)
    return once("fma-plugin", build) / "fma.so"


# ── the corpus ──


@pytest.mark.parametrize(("path", "expected"), EXPECTED)
def test_a_file_holds_what_is_written_in_it(path, expected):
    count = count_fma(path.read_text(), expected["given"])[expected["function"]]
    assert count.static == expected["static"]
    assert count.dynamic == expected["dynamic"]
    assert (count.dynamic is None) == bool(count.unknown)


def test_an_unknown_count_says_why():
    counts = count_fma((CORPUS / "unknown_loops.ll").read_text())
    assert counts["from_memory"].unknown == {
        "loop": "what the loop counts does not begin, move and end by numbers"
    }
    assert counts["two_ways_out"].unknown == {"loop": "the loop has 2 ways out"}
    assert counts["triangle"].runs.trips[1].count == 7  # the outer loop is known all the same
    sides = count_fma((CORPUS / "another_block.ll").read_text())["f"]
    assert sides.unknown == {"then": "data decides whether it runs, or it runs too often"}
    assert sides.runs.blocks == (1, None, 1)


@pytest.mark.parametrize(("path", "expected"), EXPECTED)
def test_the_plugin_says_the_same(plugin, path, expected):
    ours = count_fma(path.read_text(), expected["given"])
    theirs = counted(plugin, path, expected["given"])
    assert {name: count.as_dict() for name, count in ours.items()} == theirs


def test_the_plugin_counts_functions_that_passes_leave_alone(plugin, tmp_path):
    text = (CORPUS / "differences.ll").read_text().replace(") {", ") noinline optnone {")
    (tmp_path / "f.ll").write_text(text)
    assert counted(plugin, tmp_path / "f.ll")["f"]["static"] == {"pair": 3, "mul": 1}


def test_bad_text_and_a_missing_tool_are_named(plugin, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="expected type"):
        parse("define nonsense @f() {")
    (tmp_path / "f.ll").write_text("define nonsense @f() {")
    with pytest.raises(ValueError, match="expected type"):
        counted(plugin, tmp_path / "f.ll")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="llvm-22-dev"):
        tool("opt")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scalar_evolution_agrees(require_tool, path):
    """Wherever both know how often a loop turns. LLVM counts the ways back: one less."""
    command = [require_tool("opt-22"), "-passes=print<scalar-evolution>", "-disable-output", path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    functions = re.split(r"Determining loop execution counts for: @(\S+)", said)[1:]
    for name, words in zip(functions[::2], functions[1::2], strict=True):
        count = count_fma(path.read_text())[name]
        ours = {count.blocks[header][0]: t.count for header, t in count.runs.trips.items()}
        found = re.findall(r"Loop %(\S+): backedge-taken count is i\d+ (-?\d+)$", words, re.M)
        for header, backs in found:
            assert ours[header] == int(backs) % 256 + 1 or ours[header] is None
            assert ours[header] is not None or name in ("doubling",)


# Where the machine has the instruction for the type, and nothing is left to choose.
@pytest.mark.parametrize("name", ["matmul", "conv", "softmax", "two_users", "differences"])
def test_haswell_has_an_instruction_for_each(name):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = (CORPUS / f"{name}.ll").read_text()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    assembly = target.create_target_machine(cpu="haswell", opt=3).emit_assembly(parse(text))
    lanes = {"ps": {"x": 4, "y": 8}, "pd": {"x": 2, "y": 4}}
    found = re.findall(r"\bvfn?m(?:add|sub)\d+([ps][sd])\s.*%([xy])mm\d+$", assembly, re.M)
    machine = sum(lanes[kind][size] if kind[0] == "p" else 1 for kind, size in found)
    assert machine == sum(count.static["pair"] for count in count_fma(text).values()) > 0


# ── how often a comparison comes out the same ──


@pytest.mark.parametrize(
    "sign", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
)
def test_counters_of_three_bits_one_by_one(sign):
    """Every start, step and bound, against counting. A counter that wraps may stay unknown, but
    for (in)equality, where it is met in the end if at all."""
    for start in range(8):
        for step in range(8):
            for bound in range(8):
                turns = (t for t in range(8) if holds(sign, (start + t * step) % 8, bound, 3))
                truth = next(turns, None)
                found = first(sign, Line(start, step), bound, 3)
                assert found == truth or (found is None and sign not in ("eq", "ne"))
                if found is None and truth is not None:  # it wrapped on its way
                    assert not _stays(start, step, truth, signed=sign.startswith("s"))


def _stays(start: int, step: int, turns: int, signed: bool) -> bool:
    """Whether a counter of three bits gets there without running over an end."""
    step = step - 8 if step >= 4 else step
    start = start - 8 if signed and start >= 4 else start
    low, high = (-4, 3) if signed else (0, 7)
    return low <= start + step * turns <= high


# ── random functions ──


class Writer:
    """A random function: nested loops, branches, products and sums. `decided`: by constants and
    the argument %n alone, so that everything can be known once %n is given."""

    def __init__(self, seed: int, decided: bool) -> None:
        self.random, self.decided = random.Random(seed), decided
        self.lines: list[str] = []
        self.number, self.room = 0, 8  # loops and branches that may still come
        self.label("entry")
        self.values = {t: [f"%{name}"] for t, name in (("float", "a"), ("<4 x float>", "v"))}
        self.values["double"] = ["%d"]
        self.body(depth=3)
        self.lines.append("  ret void")

    @property
    def text(self) -> str:
        head = "define void @f(ptr %x, i64 %n, float %a, double %d, <4 x float> %v) {"
        types = {"f32": "float", "f64": "double", "v4f32": "<4 x float>"}
        declared = [
            f"declare {t} @llvm.{name}.{suffix}({t}, {t}, {t})"
            for name in ("fma", "fmuladd")
            for suffix, t in types.items()
        ]
        return "\n".join([*declared, head, *self.lines, "}"]) + "\n"

    def fresh(self, name: str) -> str:
        self.number += 1
        return f"{name}{self.number}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def do(self, operation: str, name: str = "t") -> str:
        value = f"%{self.fresh(name)}"
        self.lines.append(f"  {value} = {operation}")
        return value

    def pick(self, *choices):
        return self.random.choice(choices)

    def body(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            kinds = [self.arithmetic, self.arithmetic]
            kinds += [self.loop, self.loop, self.branch] if depth and self.room else []
            saved = {t: list(values) for t, values in self.values.items()}
            kind = self.pick(*kinds)
            self.room -= kind != self.arithmetic
            kind(depth - 1)
            if kind != self.arithmetic:
                self.values = saved  # what was computed inside does not dominate what follows

    def arithmetic(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 5)):
            t = self.pick(*self.values)
            a, b, c = (self.random.choice(self.values[t][-4:]) for _ in range(3))
            flags = self.pick("", "contract ", "contract ", "fast ", "reassoc nsz contract ")
            suffix = {"float": "f32", "double": "f64", "<4 x float>": "v4f32"}[t]
            name = self.pick("fma", "fmuladd")
            operation = self.pick(
                *[f"{op} {flags}{t} {a}, {b}" for op in ("fmul", "fmul", "fadd", "fsub")],
                f"call {t} @llvm.{name}.{suffix}({t} {a}, {t} {b}, {t} {c})",
            )
            self.values[t].append(self.do(operation))
        if self.pick(True, False):
            self.lines.append(f"  store {t} {self.values[t][-1]}, ptr %x, align 4")

    def branch(self, depth: int) -> None:
        then, other, after = (self.fresh(n) for n in ("then", "else", "after"))
        condition = self.condition()
        if self.pick(True, False):  # no else
            self.lines.append(f"  br i1 {condition}, label %{then}, label %{after}")
        else:
            self.lines.append(f"  br i1 {condition}, label %{then}, label %{other}")
            self.label(other)
            saved = {t: list(values) for t, values in self.values.items()}
            self.arithmetic(depth)
            self.values = saved
            self.lines.append(f"  br label %{after}")
        self.label(then)
        self.body(depth)
        self.lines.append(f"  br label %{after}")
        self.label(after)

    def condition(self) -> str:
        if not self.decided and self.pick(True, False):
            word = self.do("load i32, ptr %x, align 4")
            return self.do(f"icmp sgt i32 {word}, {self.random.randint(-3, 3)}")
        a = self.do(f"{self.pick('add', 'mul', 'and', 'xor', 'sdiv', 'lshr')} i64 %n, 3")
        b = self.do(f"call i64 @llvm.smin.i64(i64 {a}, i64 {self.random.randint(0, 9)})")
        sign = self.pick("eq", "ne", "slt", "uge")
        return self.do(f"icmp {sign} i64 {b}, {self.random.randint(0, 9)}")

    def loop(self, depth: int) -> None:
        """Tested on top or at the end, up or down, until a number is met or passed."""
        head, body, after = (self.fresh(n) for n in ("head", "body", "after"))
        counter, following = f"%{self.fresh('i')}", f"%{self.fresh('next')}"
        on_top = self.pick(True, False)
        t, test, start, step = self._test(counter, following, on_top)
        before = self.block
        self.lines.append(f"  br label %{head}")
        self.label(head)
        at = len(self.lines)
        if on_top:
            self.lines += [test, f"  br i1 %c{counter[1:]}, label %{after}, label %{body}"]
            self.label(body)
        self.body(depth)
        self.lines.append(f"  {following} = add {t} {counter}, {step}")
        if on_top:
            self.lines.append(f"  br label %{head}")
        else:
            self.lines += [test, f"  br i1 %c{counter[1:]}, label %{after}, label %{head}"]
        phi = f"  {counter} = phi {t} [ {start}, %{before} ], [ {following}, %{self.block} ]"
        self.lines.insert(at, phi)
        self.label(after)

    def _test(self, counter: str, following: str, on_top: bool) -> tuple[str, str, str, int]:
        """How a loop ends after 0 to 5 turns: the type of its counter, the test, start and step."""
        value = counter if on_top else self.pick(counter, following)
        turns = self.random.randint(0 if on_top else 1, 5)
        step = self.pick(-3, -1, 1, 2, 4)
        begin = self.random.randint(-20, 20)
        last = begin + step * turns
        t, sign = self.pick("i8", "i64"), self.pick("eq", "s", "arg", "data")
        end, first_value = str(last), str(begin)
        if sign == "s":
            sign = "sge" if step > 0 else "sle"
            end = str(last - self.random.randrange(abs(step)) * (1 if step > 0 else -1))
        elif sign == "arg" or (sign == "data" and self.decided):
            t, sign, step, first_value = "i64", "sge", abs(step), "0"
            end = "%n"
        elif sign == "data":
            t, sign, step, first_value = "i64", "sge", abs(step), "0"
            word = self.do("load i32, ptr %x, align 4")
            small = self.do(f"and i32 {word}, 7")
            end = self.do(f"zext i32 {small} to i64")
        return t, f"  %c{counter[1:]} = icmp {sign} {t} {value}, {end}", first_value, step


def instrumented(text: str) -> tuple[str, int]:
    """Each block of a function of named blocks adds one to a counter of its own."""
    lines, blocks = [], 0
    waiting = False
    for line in text.splitlines():
        if waiting and " = phi " not in line:
            at = f"getelementptr (i64, ptr @ran, i64 {blocks})"
            lines += [f"  %run.{blocks} = load i64, ptr {at}"]
            lines += [f"  %ran.{blocks} = add i64 %run.{blocks}, 1"]
            lines += [f"  store i64 %ran.{blocks}, ptr {at}"]
            blocks, waiting = blocks + 1, False
        lines.append(line)
        waiting |= re.match(r"[\w.$-]+:", line) is not None
    return "\n".join([*lines, f"@ran = global [{blocks} x i64] zeroinitializer"]), blocks


def really_ran(text: str, *arguments) -> list[int]:
    """How often each block of @f ran in one call."""
    made, blocks = instrumented(text)
    engine = llvm.create_mcjit_compiler(parse(made), target_machine())
    engine.finalize_object()
    kinds = [ctypes.c_void_p if isinstance(a, np.ndarray) else ctypes.c_int64 for a in arguments]
    run = ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address("f"))
    run(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))
    counters = (ctypes.c_int64 * blocks).from_address(engine.get_global_value_address("ran"))
    return list(counters)


def forms(seed: int, decided: bool = False) -> list[str]:
    """A random function as it was written, and as LLVM's optimizer leaves it."""
    text = Writer(seed, decided).text
    return [text, str(optimize(text, target_machine()))]


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(0, 9))
def test_a_block_runs_as_often_as_is_said(seed, n):
    for text in forms(seed):
        ran = really_ran(text, np.zeros(64, np.float32), n)
        for numbers in ({}, {"n": n}):
            said = count_fma(text, numbers)["f"].runs.blocks
            assert all(s is None or s == r for s, r in zip(said, ran, strict=True))


@given(SEEDS, st.integers(0, 9))
def test_without_data_everything_is_known(seed, n):
    text, _ = forms(seed, decided=True)
    ran = really_ran(text, np.zeros(64, np.float32), n)
    assert list(count_fma(text, {"n": n})["f"].runs.blocks) == ran


@given(SEEDS, st.integers(0, 9))
def test_the_plugin_says_the_same_of_any_function(plugin, tmp_path_factory, seed, n):
    path = tmp_path_factory.mktemp("fma") / "f.ll"
    for text in forms(seed):
        path.write_text(text)
        for numbers in ({}, {"n": n}):
            assert counted(plugin, path, numbers)["f"] == count_fma(text, numbers)["f"].as_dict()
