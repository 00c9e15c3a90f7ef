"""What the playground shows is what the compiler does: each state against a run of the passes.

The widget itself is tried in `test_widget.py`; the site's file with all states in
`tests/course/test_site.py`.
"""

import json

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.compiler import compile
from course_lib.exercises import plugged
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run as interpret
from course_lib.ir.graph.samples import random_inputs
from course_lib.lower.lower import lower
from course_lib.passes.infra.manager import run_passes
from course_lib.playground import kernels, programs
from course_lib.playground import states as playground_states
from course_lib.playground.explore import explore, orders
from course_lib.playground.kernels import Main, main_kernel, shortened
from course_lib.playground.page import as_json, shown
from course_lib.playground.playground import playground
from course_lib.playground.programs import FIVE, PROGRAMS
from course_lib.playground.states import states
from course_lib.playground.table import ENDS, Table, unpack
from course_lib.schedule.choose import choose
from course_lib.schedule.schedule import fixed_operands

SMALL = {name: PROGRAMS[name] for name in ("repeat", "order", "identities")}


@pytest.fixture(scope="module")
def data() -> dict:
    return shown(SMALL, FIVE)


def test_five_passes_have_326_orders_and_each_is_one_pass_longer_than_another_one():
    every = orders(5)
    assert len(every) == len(set(every)) == 326 and every[0] == ()
    assert all(order[:-1] in every for order in every[1:])
    assert [len([o for o in every if len(o) == k]) for k in range(6)] == [1, 5, 20, 60, 120, 120]


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_order_ends_in_the_graph_that_running_its_passes_gives(name: str):
    graph = PROGRAMS[name].graph
    explored = explore(graph, FIVE)
    every = orders(5)
    tried = range(len(every)) if name in SMALL else range(0, len(every), 9)
    for number in tried:
        form = explored.forms[explored.ends[number]]
        assert isinstance(form, Graph)
        ran = run_passes(graph, [FIVE[k] for k in every[number]])
        assert print_graph(ran, "exact") == print_graph(form, "exact"), every[number]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_form_of_a_program_computes_the_same_and_orders_differ(name: str):
    graph = PROGRAMS[name].graph
    inputs = random_inputs(graph)
    forms = explore(graph, FIVE).forms
    assert len(forms) > 1
    for form in forms:
        assert isinstance(form, Graph)
        for got, want in zip(interpret(form, inputs), interpret(graph, inputs), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_program_is_there_for_what_an_order_changes():
    """In some program, two orders of the same five passes end in different numbers of nodes."""
    found = {}
    for name, program in PROGRAMS.items():
        explored = explore(program.graph, FIVE)
        full = [end for order, end in zip(orders(5), explored.ends, strict=True) if len(order) == 5]
        forms = [explored.forms[end] for end in full]
        found[name] = {len(form.nodes) for form in forms if isinstance(form, Graph)}
    assert len(found) == 12 and sum(len(counts) > 1 for counts in found.values()) >= 6, found


def test_the_counts_are_those_of_a_compilation(data: dict):
    every, graph = orders(5), PROGRAMS["order"].graph
    program = data["programs"][list(SMALL).index("order")]
    for order in [(), (0, 2), (0, 2, 4), (4, 0, 2), (0, 1, 2, 3, 4)]:
        form = program["forms"][program["ends"][every.index(order)]]
        seen = {}
        run = compile(graph, passes=[FIVE[k] for k in order], watch=seen.setdefault)
        assert form["nodes"] == len(run.graph.nodes)
        assert form["kernels"] == len(seen["loops"].steps)
        assert form["bytes"] == sum(
            sum(seen["loops"].types[value].nbytes for value in {*step.reads, step.writes})
            for step in seen["loops"].steps
        )


def test_the_steps_lead_from_the_textbook_loops_to_what_the_compiler_chooses():
    graph = run_passes(PROGRAMS["dense"].graph, FIVE)
    program = lower(graph)
    (step,) = program.steps
    assert step.kernel is not None
    fixed = fixed_operands(program, step)
    main = main_kernel(step.kernel, fixed)
    first, last = main.steps[0], main.steps[-1]
    assert (
        step.kernel.text in first.loops
        and choose(step.kernel, kernels.MACHINE, fixed).text in last.loops
    )
    assert [s.step for s in main.steps][:2] == ["as lowered", "split(n, 16)"]
    assert last.fmas == 32 * 48 * 64  # the reduction, each once; nothing else multiplies and adds
    assert last.clocks and first.clocks and last.clocks < first.clocks
    assert "vfmadd" in last.assembly and "ymm" in last.assembly and "zmm" not in last.assembly
    assert ".visible .entry" in main.ptx and "sm_80" in main.ptx


def test_nothing_depends_on_the_processor_that_computes_the_states(monkeypatch):
    monkeypatch.setenv("COURSE_LIB_CACHE", "off")

    def never(*_: object) -> None:
        raise AssertionError("the processor at hand was asked for")

    before = as_json(shown({"repeat": PROGRAMS["repeat"]}, FIVE))
    for name in ("get_host_cpu_name", "get_host_cpu_features", "get_process_triple"):
        monkeypatch.setattr(llvm, name, never)
    assert as_json(shown({"repeat": PROGRAMS["repeat"]}, FIVE)) == before


def test_a_pass_that_fails_is_a_state_with_its_words_and_so_is_what_follows_it():
    def broken(graph: Graph) -> Graph:
        raise KeyError("w")

    table = Table()
    found = states(PROGRAMS["repeat"].graph, [FIVE[2], broken], table)
    wrong = {number for number, form in enumerate(found["forms"]) if "wrong" in form}
    words = [found["forms"][number]["wrong"] for number in wrong]
    assert all("the pass 'broken' crashed on @repeat" in each for each in words)
    ends = dict(zip(orders(2), found["ends"], strict=True))
    assert {order for order, end in ends.items() if end in wrong} == {(1,), (0, 1), (1, 0)}


def test_a_graph_that_nothing_compiles_is_a_state_too(monkeypatch):
    def refuse(graph: Graph) -> Graph:
        raise ValueError(f"@{graph.name} has no order")

    monkeypatch.setattr(playground_states, "lower", refuse)
    found = states(PROGRAMS["repeat"].graph, [FIVE[2]], Table())
    assert all("cannot be compiled. ValueError: @repeat has" in f["wrong"] for f in found["forms"])


def test_a_kernel_is_made_once_unless_an_answer_may_schedule_it_otherwise(monkeypatch):
    (step,) = lower(trace(relu, "f32[4,8]")).steps
    assert step.kernel is not None
    made = []
    monkeypatch.setattr(kernels, "_main", lambda *_: made.append(1) or Main("m", (), ""))
    monkeypatch.setattr(
        kernels, "kept", lambda *_: (b'{"name": "kept", "steps": [], "ptx": ""}', b"")
    )
    with plugged("passes.cse", lambda graph: graph):
        assert main_kernel(step.kernel, frozenset()).name == "kept" and not made
    with plugged("llvm.fma.arithmetic", lambda text: {}):
        assert main_kernel(step.kernel, frozenset()).name == "m" and made


def test_what_is_plugged_in_is_what_runs():
    with plugged("passes.cse", lambda graph: graph):
        without = playground("repeat").text
    assert "326 orders end in 2 graphs" in without
    assert "326 orders end in 4 graphs" in playground("repeat").text


def test_a_playground_in_a_notebook_takes_a_graph_and_refuses_what_is_too_large():
    graph = trace(lambda x: relu(relu(x)), "f32[8]", name="mine")
    picture = playground(graph, FIVE[1:3])
    assert picture.text.startswith("Playground: mine: 5 orders end in 3 graphs")
    assert "<iframe" in picture.html and "srcdoc" in picture.html and "as text" in picture.html
    with pytest.raises(ValueError, match="no program 'gate'; there are repeat, "):
        playground("gate")
    with pytest.raises(ValueError, match="1 to 5 passes, got 6"):
        playground("repeat", [*FIVE, FIVE[0]])

    def long(x):
        for _ in range(50):
            x = relu(x)
        return x

    with pytest.raises(ValueError, match="at most 40 nodes, this one has 51"):
        playground(trace(long, "f32[8]"))


LINES = st.text(st.sampled_from("ab %01\n{}<\"\\'é"), max_size=40)


@given(st.lists(LINES, max_size=12))
def test_texts_come_back_as_they_were(texts: list[str]):
    table = Table()
    numbers = [table.add(text) for text in texts]
    unpacked = unpack(json.loads(json.dumps(table.packed())))
    assert [unpacked[number] for number in numbers] == texts


def test_what_repeats_takes_little_room_and_long_numbers_come_back():
    table = Table()
    words = [f"w{k}x" for k in range(300)]
    for k in range(20):
        table.add(" ".join([*words, str(k)]))
    many = table.packed()
    assert unpack(many) == table.texts and many["texts"].count(ENDS) == 20
    once = Table()
    once.add(" ".join([*words, "0"]))
    assert len(many["texts"]) < 1.5 * len(once.packed()["texts"])


def test_a_long_text_says_how_much_of_it_is_missing():
    lines = [str(k) for k in range(kernels.LONGEST + 3)]
    assert shortened(lines).splitlines()[-1] == "... and 3 more lines"
    assert shortened(lines[:-3]).splitlines() == lines[:-3]


def test_programs_say_what_to_look_for():
    assert len(programs.PROGRAMS) == 12
    for name, program in programs.PROGRAMS.items():
        assert program.graph.name == name and program.about.endswith((".", "?"))
