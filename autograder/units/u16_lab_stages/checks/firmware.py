"""Visible checks of `runner`: its C is compiled with TVM's kernels, without a library, and runs.

The networks are drawn: TVM's kernels stay, and which of them are called, in which order and on
which arrays changes. Next room: autograder/units/u16_lab_stages/hidden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.cpp import apart
from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from autograder.check.stack import fault, questions
from course_lib.bridges.firmware import FLAGS, Network, shuffled
from course_lib.bridges.gxx import CppError
from lessons.u16_lab_stages.shown import NETWORK, about_text

NAME = "u16_lab_stages.runner"
TEXT = "C as one text, which includes nothing and leaves nothing undefined"
MAIN = "`main` launches the kernel of each step, in order, and returns 0"
REFUSED = "it returns 1 once a kernel refuses"
ARENA = ('`arena` is an array of at most model["numbers"] floats, in which the arrays between the '
         "steps lie")  # fmt: skip
OVER = "No step writes over an array that it or a later step reads"
ROOM = '`workspace` is an array of at most model["workspace"] bytes'
GIVES = ("`TVMBackendAllocWorkspace` gives a kernel nbytes of it, at a multiple of 16, or NULL if "
         "fewer are free")  # fmt: skip
TAKES = "`TVMBackendFreeWorkspace` takes back what was given last, and returns 0"
AGAIN = "`main` may be called again, and no result may depend on what `arena` held before"
RIGHT = "The results are right to 0.001"
LONGEST = 50_000  # letters

background(NAME, "Write the C around TVM's kernels, for a machine without a system",
           because="the sentences below say it in full")  # fmt: skip
background(NAME, "`NETWORK.about`, printed above, is one", because="what the argument is")
background(NAME, "Arrays between steps have multiples of 64 bytes",
           because="what the networks are like")  # fmt: skip


def built(runner: Any, network: Network, about: dict[str, Any], values: Mapping[str, Any]) -> str:
    """The whole text for a network."""
    text = runner(about)
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Wrong(f"The function must return C as one text of at most {LONGEST:,} letters.",
                    got=returned(text), spec=TEXT)  # fmt: skip
    if re.search(r"^\s*#\s*include|\bharness_|\basm\b", text, re.M):
        raise Wrong("The text must include nothing and be C alone.", got=text, spec=TEXT)
    return network.source(text, values, harness=True)


def call(text: str, name: str, *arguments: Any) -> int:
    """A function of the compiled text; Wrong in words if it cannot be compiled or run."""
    try:
        return apart(text, name, FLAGS)(*arguments).value
    except CppError as error:
        first, _, rest = str(error).partition("\n")
        if names := sorted(set(re.findall(r"undefined reference to `(\w+)'", rest))):
            raise Wrong(f"{', '.join(names)} must be defined: no library has it here.",
                        spec=TEXT) from None  # fmt: skip
        for word, spec in (("arena", ARENA), ("workspace", ROOM)):
            if word in rest and "undeclared" in rest:
                raise Wrong(f"The text must have an array `{word}`.", got=rest, spec=spec) from None
        raise Wrong("The C does not compile." if rest else f"{first}.", got=rest,
                    spec=TEXT) from None  # fmt: skip


def runs(runner: Any, network: Network, seed: int = 0) -> str:
    """Compile it, run it twice, and look at the results and at where the arrays lay."""
    values = network.values(seed)
    text = built(runner, network, network.about, values)
    shown = about_text(network.about)
    _sizes(text, network, shown)
    for _ in range(2):
        out = np.full(network.shapes[network.output], np.nan, np.float32)
        count, where = np.zeros(1, np.int64), np.zeros(128, np.int64)
        given = values[network.input].reshape(-1) + 0
        code = call(text, "harness_run", given, out, count, where)
        if code:
            raise Wrong("`main` must return 0.", program=shown, got=str(code), spec=MAIN)
        _places(network, int(count[0]), where, shown)
        right = network.computed(values)
        apart_by = np.abs(out - right).max() / max(1.0, np.abs(right).max())
        if not apart_by <= 1e-3:
            raise Wrong("The results must be those of the network.", program=shown,
                        got=str(out[0].reshape(-1)[:8]), expected=str(right[0].reshape(-1)[:8]),
                        spec=RIGHT)  # fmt: skip
    return text


def _sizes(text: str, network: Network, shown: str) -> None:
    for name, most, unit, spec in (("arena", 4 * network.numbers, "numbers", ARENA),
                                   ("workspace", network.workspace, "bytes", ROOM)):  # fmt: skip
        size = call(text, f"harness_{name}")
        if size > most:
            each = 4 if unit == "numbers" else 1
            raise Wrong(f"`{name}` has too many {unit}.", program=shown, got=f"{size // each:,}",
                        expected=f"at most {most // each:,}", spec=spec)  # fmt: skip


def _places(network: Network, count: int, where: np.ndarray, shown: str) -> None:
    named = [name for step in network.steps for name in (*step["reads"], step["writes"])]
    if count != len(named):
        raise Wrong("Each kernel must be launched once, with all of its arrays.", program=shown,
                    got=f"{count} arrays in all", expected=f"{len(named)}", spec=MAIN)  # fmt: skip
    outside = [name for name, at in zip(named, where, strict=False)
               if name in network.between and at < 0]  # fmt: skip
    if outside:
        raise Wrong(f"The array {outside[0]} must lie in `arena`.", program=shown, spec=ARENA)
    left = iter(map(int, where))
    for step in network.steps:
        *reads, (written, begin) = [*zip((*step["reads"], step["writes"]), left, strict=False)]
        for name, at in reads:
            ends = begin + 4 * network.size(written), at + 4 * network.size(name)
            if name in network.between and 0 <= begin < ends[1] and at < ends[0]:
                raise Wrong(f"{step['call']} must not write where {name} lies, which it reads.",
                            program=shown, spec=OVER)  # fmt: skip


def refuses(runner: Any, network: Network, at: int) -> None:
    """A kernel is told a wrong shape: no later one may be launched."""
    values = network.values(1)
    about = network.about
    wrong = network.steps[at]["writes"]
    about["shapes"][wrong] = [*about["shapes"][wrong][:-1], about["shapes"][wrong][-1] * 2]
    larger = replace(network, shapes=about["shapes"])
    about = {**larger.about, "shapes": about["shapes"]}
    text = built(runner, network, about, values)
    out = np.zeros(network.shapes[network.output], np.float32)
    count, where = np.zeros(1, np.int64), np.zeros(128, np.int64)
    given = values[network.input].reshape(-1) + 0
    code = call(text, "harness_run", given, out, count, where)
    due = sum(len(step["reads"]) + 1 for step in network.steps[: at + 1])
    shown = f"{about_text(about)}\nThe kernel of step {at} refuses the shape of {wrong}."
    if code != 1:
        raise Wrong("`main` must return 1.", program=shown, got=str(code), spec=REFUSED)
    if count[0] != due:
        raise Wrong("After a kernel has refused, no other one may be launched.", program=shown,
                    spec=REFUSED)  # fmt: skip


def gives_memory(runner: Any, network: Network) -> None:
    """The workspace by itself: pieces one upon the other, taken back, and more than is free."""
    text, whole = built(runner, network, network.about, network.values(0)), network.workspace
    size = call(text, "harness_workspace")
    if (step := call(text, "harness_alignment")) % 16:
        raise Wrong("`workspace` itself must lie at a multiple of 16, on any machine: C has "
                    "`_Alignas(16)` for that.", got=f"{step}", spec=GIVES)  # fmt: skip
    for asked in questions(whole):
        at = np.zeros(len(asked), np.int64)
        code = call(text, "harness_memory", np.array(asked, np.int64), len(asked), at)
        if found := fault(whole, size, asked, at.tolist()):
            raise Wrong(found.words, program=f"of {whole:,} bytes: {found.asked}", got=found.got,
                        spec=TAKES if found.taken_back else GIVES)  # fmt: skip
        if code:
            raise Wrong("`TVMBackendFreeWorkspace` must return 0.", got=str(code), spec=TAKES)


@checks(NAME, spec=[TEXT, MAIN, ARENA, OVER, ROOM, RIGHT, AGAIN])
def computes_the_network(runner):
    """The network of the page, compiled without a library, runs twice."""
    runs(runner, NETWORK)


@checks(NAME, spec=[ARENA, OVER, RIGHT])
def computes_others(runner):
    """Three networks of the same kernels in another order, under other names."""
    for seed in (3, 4, 8):
        runs(runner, shuffled(NETWORK, seed, 3 + seed), seed)
    return "3 networks"


@checks(NAME, spec=[GIVES, TAKES])
def gives_and_takes_back(runner):
    """What is asked of the workspace, one call after another."""
    gives_memory(runner, NETWORK)


@checks(NAME, spec=[REFUSED])
def stops_when_a_kernel_refuses(runner):
    """A kernel that is told a wrong shape."""
    for at in (0, 2, 4):
        refuses(runner, NETWORK, at)
