"""Visible checks of `loops`: kernels that are made up, and two that Inductor wrote.

Next room: tile.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from lessons.u15_lab_block.text import BY_INDUCTOR, code_of

SAY = "Say what each loop of a kernel in C++ does"
EACH = "a dict for each loop, in the order of the text, with the keys below"
LOOP = '"loop": its variable'
STEP = '"step": by how much the variable grows, from 0; more than 1 means that a vector holds'
TIMES = '"times": how often its body runs in one launch, all loops around it included'
SHARED = '"shared": whether threads share its iterations'
ABOVE = "They do if the line above it is `#pragma omp for`"
TWO = "With `collapse(2)`, the loop in the line below it is shared too"
PLACES = '"loads", "stores": the pointers, as they are written, from which its own body loads'
REDUCES = '"reduces": "sum" if its own body has a line such as `tmp_acc0_vec = tmp_acc0_vec + tmp7`'
LARGEST = '"maximum" if it has one such as `tmp_acc0_vec = maximum(tmp_acc0_vec, tmp3)`'
NOT = "A line with `vec_reduce_all` does not count"
OWN = "A loop's own body does not include the loops inside it"
POINTERS = ["in_ptr0", "in_ptr1", "in_out_ptr0", "out_ptr0", "out_ptr1", "local_buffer_data_0"]
SHARING = {"for": 1, "for collapse(2)": 2, "single": 0, "": 0}  # loops that threads share
REDUCTIONS = {"": "", "sum": "{0} + tmp7", "max": "maximum({0}, tmp7)",
              "min": "minimum({0}, tmp7)", "prod": "{0} * tmp7"}  # fmt: skip
SAYS = {"loop": LOOP, "step": STEP, "times": TIMES, "shared": SHARED, "loads": PLACES,
        "stores": PLACES, "reduces": REDUCES}  # fmt: skip

background("u15_lab_block.loops", "code the kernel, shortened", because="what is given")


@dataclass
class Kernel:
    """A kernel under construction, and what has to be said of its loops."""

    draw: DrawFn
    lanes: int
    first: int  # the outermost loop is over x0, x1 or x2
    lines: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(["void kernel(const float* in_ptr0, float* out_ptr0)", *self.lines, ""])

    def some(self, most: int, least: int = 0) -> int:
        return self.draw(st.integers(least, most))

    def add(self, space: str, line: str, row: dict[str, Any] | None = None, key: str = "",
            pointer: str = "") -> None:  # fmt: skip
        """A line, which may be a load or a store of the loop `row`."""
        self.lines.append(space + line)
        if row is not None:
            row[key] = list(dict.fromkeys([*row[key], pointer]))

    def nest(self) -> None:
        """A nest, of which threads share one loop, two or none."""
        pragma = self.draw(st.sampled_from(["for", "for", "for collapse(2)", "single", ""]))
        self.lines += [f"#pragma omp {pragma}"] * bool(pragma)
        self.loop(0, 1, SHARING[pragma])

    def loop(self, depth: int, around: int, shared: int) -> None:
        """A loop that runs `around` times as often as its own head says."""
        space, last = "    " * depth, depth == 2 or (shared < 2 and self.some(2) == 0)
        step = self.draw(st.sampled_from([self.lanes, self.lanes, 1])) if last else 1
        end = self.draw(st.sampled_from([1, 2, 3, 7, 16, 45])) * [1, step][self.some(1)]
        x = f"x{self.first + depth}"
        row = {"loop": x, "step": step, "times": around * -(-end // step), "shared": shared > 0,
               "loads": [], "stores": [], "reduces": ""}  # fmt: skip
        self.rows.append(row)
        self.add(space, f"for({x}=0; {x}<{end}; {x}+={step})")
        if last:
            self.body(space + "    ", row, end % step, end)
        elif shared == 2 or self.some(3) == 0:  # one loop inside, and nothing else
            self.loop(depth + 1, row["times"], max(0, shared - 1))
        else:
            self.with_others(depth, row)

    def with_others(self, depth: int, row: dict[str, Any]) -> None:
        """A body with one or more loops in it, and lines before and behind them."""
        space = "    " * (depth + 1)
        for _ in range(self.some(3, 1)):
            if self.some(1):
                self.load(space, row)
            self.add(space, "Vectorized tmp_acc0_vec = Vectorized(0);")
            self.loop(depth + 1, row["times"], 0)
            if self.some(1):
                self.add(space, "tmp_acc0 = tmp_acc0 + vec_reduce_all(x + y, tmp_acc0_vec);")
                to = self.pointer(2)
                self.add(space, f"{to}[{row['loop']}] = tmp_acc0;", row, "stores", to)

    def body(self, space: str, row: dict[str, Any], rest: int, end: int) -> None:
        """Loads, a reduction or none, and stores; much the same again, if there is a rest."""
        first, (loop, wide) = len(self.lines), (row["loop"], row["step"] > 1)
        for _ in range(self.some(3, 1)):
            self.load(space, row)
        self.lines += [f"{space}tmp7 = tmp1 - tmp0;", f"{space}tmp8 = tmp7 + tmp1;",
                       f"{space}tmp9 = maximum(tmp7, tmp8);"]  # fmt: skip
        kind = self.draw(st.sampled_from([*REDUCTIONS]))
        acc = f"tmp_acc{self.some(1)}{'_vec' * wide}"
        row["reduces"] = {"sum": "sum", "max": "maximum"}.get(kind, "")
        if kind:
            self.add(space, f"{acc} = {REDUCTIONS[kind].format(acc)};")
        for _ in range(self.some(2, 0 if kind else 1)):
            to = self.pointer(2)
            line = f"tmp7.store({to} + {loop});" if wide else f"{to}[{loop}] = tmp7;"
            self.add(space, line, row, "stores", to)
        if rest:
            masked = f"{kind}_masked_reduce({acc}, tmp7, {rest})"
            again = [f"{space}{acc} = {masked};" if "acc" in line else line
                     for line in self.lines[first:]]  # fmt: skip
            self.lines += [f"{space}// the rest, {loop} from {end - rest}", *again]

    def load(self, space: str, row: dict[str, Any]) -> None:
        pointer, at = self.pointer(), row["loop"]
        value = [f"loadu({pointer} + {at})", f"{pointer}[{at}]"][self.some(1)]
        self.add(space, f"tmp{self.some(1)} = {value};", row, "loads", pointer)

    def pointer(self, first: int = 0) -> str:
        return self.draw(st.sampled_from(POINTERS[first:]))


@st.composite
def drawn(draw: DrawFn, most: int = 2) -> Kernel:
    """A kernel of up to `most` nests, each up to three loops deep."""
    lanes, first = draw(st.sampled_from([4, 8, 16])), draw(st.integers(0, 2))
    kernel = Kernel(draw, lanes, first, ["out_ptr0 = in_out_ptr0;"])
    kernel.lines.append("#pragma omp parallel num_threads(2)")
    for _ in range(draw(st.integers(1, most))):
        kernel.nest()
    return kernel


def as_it_must(loops: Any, code: str, due: list[dict[str, Any]], spec: str = "") -> None:
    """Wrong unless the answer says this of the loops of a kernel."""
    got = loops(code)
    if not isinstance(got, list | tuple) or not all(isinstance(row, Mapping) for row in got):
        raise Wrong("The answer must be a list of dicts.", program=code, got=returned(got),
                    spec=EACH)  # fmt: skip
    if [row.get("loop") for row in got] != [row["loop"] for row in due]:
        raise Wrong("There must be a dict for each loop, in the order of the text.", program=code,
                    got=str([row.get("loop") for row in got]),
                    expected=str([row["loop"] for row in due]), spec=LOOP)  # fmt: skip
    for number, (row, right) in enumerate(zip(got, due, strict=True)):
        if {*row} != {*right}:
            raise Wrong("Each dict must have the seven keys.", program=code, got=str(sorted(row)),
                        expected=str(sorted(right)), spec=EACH)  # fmt: skip
        for key, value in right.items():
            if plain(row[key]) != value:
                raise Wrong(f'"{key}" of loop {number + 1}, over {right["loop"]}, is not right.',
                            program=code, got=returned(row[key]), expected=repr(value),
                            spec=spec or SAYS[key])  # fmt: skip


def plain(value: Any) -> Any:
    """Without numpy and tuples, which are as good."""
    if isinstance(value, list | tuple):
        return [*value]
    return value.item() if isinstance(value, np.generic) else value


@checks("u15_lab_block.loops", given=drawn(2), examples=80, what="made-up kernels",
        spec=[SAY, EACH, *SAYS.values(), ABOVE, TWO, LARGEST, NOT, OWN])  # fmt: skip
def loops_of_kernels(loops, kernel: Kernel):
    """Each loop, with what its own body does."""
    as_it_must(loops, str(kernel), kernel.rows)


WRITTEN = [
    (code_of(BY_INDUCTOR["gelu"], "cpp_fused_add_mul_tanh_0"),
     [("x0", 16, 65_536, True, ["in_ptr0"], ["out_ptr0"], "")], TIMES),
    (code_of(BY_INDUCTOR["block"], "cpp_fused__softmax_div_view_1"),
     [("x0", 1, 512, True, [], ["out_ptr0", "out_ptr1"], ""),
      ("x1", 16, 4_096, False, ["in_ptr0"], [], "maximum"),
      ("x1", 16, 4_096, False, ["in_ptr0", "out_ptr0"], ["local_buffer_data_0"], "sum"),
      ("x1", 16, 4_096, False, ["local_buffer_data_0", "out_ptr1"], ["out_ptr2"], "")], OWN),
]  # fmt: skip


@for_each("u15_lab_block.loops", WRITTEN, "{} kernels that Inductor wrote", spec=[SAY])
def loops_that_inductor_wrote(loops, code, rows, spec):
    """GELU and softmax."""
    as_it_must(loops, code, [dict(zip(SAYS, row, strict=True)) for row in rows], spec)
