"""Unit 15: what it says of torch.compile is true, and its recordings are what torch says."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.check.framework import mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.units.u15.checks import CASES, LARGE
from autograder.units.u15.checks.division import KNOWN, OURS, nodes_of
from autograder.units.u15.checks.rows import KNOWN as PROGRAMS
from course_lib.exercises import plugged, slot, using
from lessons.dynamo import gelu
from lessons.u15 import cache, division, dynamo, kernels, rows, text

HEARD = ["u15.compiled", "u15.repaired", "u15.functional", "u15.parts"]


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict = judge(name, call, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


@pytest.mark.parametrize("at", range(len(CASES)))
def test_dynamo_compiles_in_the_calls_that_the_cases_say(at):
    conditions, calls, right, _ = CASES[at]
    assert cache.asked(conditions, calls) == right
    assert slot("u15.compiled").reference(conditions, calls) == right


def test_dynamo_compiles_in_the_calls_that_our_answer_says():
    rng = np.random.default_rng(15)
    for _ in range(8):
        conditions, calls = cache.drawn_calls(rng)
        assert cache.asked(conditions, calls) == slot("u15.compiled").reference(conditions, calls)


def test_dynamo_compiles_sizes_alike_that_are_too_large_for_floats():
    import torch

    compiled = []
    with dynamo.counting(lambda x: x + 1) as (called, graphs):
        for number, size in enumerate((LARGE, LARGE + 1, LARGE + 2, LARGE)):
            before = len(graphs)
            called(torch.zeros(size, dtype=torch.int8, device="meta"))
            compiled += [number] * (len(graphs) > before)
    assert compiled == [0, 1]


def test_the_limit_is_dynamos():
    import torch

    assert torch._dynamo.config.recompile_limit == cache.LIMIT


def test_no_division_has_fewer_parts_than_the_cases_say():
    """All ways to give the nodes to rounds are tried."""
    for given, fewest, _ in KNOWN:
        nodes = nodes_of(given)
        assert _fewest(nodes) == fewest, given


def _fewest(nodes) -> int:
    """The fewest parts over all orders of steps: torch runs what it can, ours any ready set."""
    ours = {name for name, op, _ in nodes if op in OURS}
    reads = {name: {x for x in operands if x in {n for n, _, _ in nodes}}
             for name, _, operands in nodes}  # fmt: skip
    states = {frozenset()}
    for parts in range(len(nodes) + 1):
        closed = {_closed(state, ours, reads, mine=False) for state in states}
        if any(len(state) == len(nodes) for state in closed):
            return parts
        states = {part for state in closed for part in _parts(state, ours, reads)}
    raise AssertionError(nodes)


def _closed(state, ours, reads, mine):
    """Everything of one kind that can run has run."""
    state = set(state)
    while more := {
        n for n in reads if (n in ours) == mine and n not in state and reads[n] <= state
    }:
        state |= more
    return frozenset(state)


def _parts(state, ours, reads):
    """The states after any part of ours."""
    found, todo = {state}, [state]
    while todo:
        one = todo.pop()
        for n in ours - one:
            if reads[n] <= one and (more := frozenset({*one, n})) not in found:
                found.add(more)
                todo.append(more)
    return found


@pytest.mark.parametrize(
    ("mutant", "quoted"),
    [
        ("all_sizes_are_static", "A size is dynamic in a graph if an earlier graph"),
        ("a_dynamic_size_may_be_one", "if each dynamic size is 2 or more"),
        ("conditions_must_be_true", "the answer to each condition"),
        ("without_a_limit", "At most `LIMIT` graphs are compiled"),
    ],
)
def test_a_cache_that_is_wrong_quotes_the_sentence_that_is_violated(mutant, quoted):
    with plugged("u15.compiled", mutants_of("u15.compiled")[mutant]):
        call = Here(slot("u15.compiled"))
        with using({}):
            assert quoted in judge("u15.compiled", call).spec


def test_the_function_of_the_notebook_is_captured_in_four_graphs():
    x, w = np.ones((4, 3), np.float32), np.ones((3, 5), np.float32)
    assert text.graphs(text.SCALED, x, w) == 4
    assert text.graphs(slot("u15.repaired").reference(), x, w) == 1


@pytest.mark.parametrize(
    "line",
    ["import os", "x.__class__", "torch.load(x)", "open('a')", "exec(3)", "'a' * 9", "x.shape * 9",
     "(1,) * 9", "for k in range(9): pass", "print = 3", "y = f'{x}'", "y = 9 ** 9", "y = 10000000",
     "y = lambda: 3", "def g(): pass", "y = x[0:1]", "global y", "del x", "y = [1]", "y = b'a'",
     "while x: pass", "y = __builtins__", "t = torch; t.save(x, x)", "x.shape.numel()", "_y = 3",
     "x.size() * 9", "x.size(None)", "y = x.size", "y = str(x)", "print(str(x) * 9)", "t = str",
     "print(('a' + 'b') * 9)", "print(f'{str(x) * 9}')", "print(f'{len(x):999999}')",
     "y = 'a'", "print('a' * 9)", "y = x.numpy", "y = 1e400", "y = 1j", "raise x", "assert x"],
)  # fmt: skip
def test_a_text_that_reaches_beyond_tensors_is_refused(line):
    with pytest.raises(ValueError, match=r"may not|must|may only"):
        text.checked(f"def scaled(x, w):\n    {line}\n    return x @ w\n")


@pytest.mark.parametrize(
    "given",
    ["", "x = 3", "def scaled(x): return x", "def scaled(x, w=open('a')): return x",
     "@print\ndef scaled(x, w): return x", "def scaled(x, w): return x\nprint(3)",
     "def scaled(x, w):\n    y: int = 3\n    return x", "def scaled(x, w:", "\0", "(" * 3000,
     "def scaled(x, w):\n    return x" + " * x" * 13, "def scaled(x, w):\n" + "    x = x\n" * 40,
     "async def scaled(x, w): return x"],
)  # fmt: skip
def test_what_is_no_such_function_is_refused(given):
    with pytest.raises(ValueError, match="it "):
        text.checked(given)


def test_types_in_the_first_line_are_not_looked_at():
    function = text.made("def scaled(x: 1 / 0, w: torch.Tensor) -> 1 / 0: return x")
    assert not function.__annotations__


def test_programs_mean_in_torch_what_they_mean_in_numpy():
    import torch

    for program, sizes, _ in PROGRAMS:
        given = {name: np.arange(2.0, n + 2) for name, n in sizes.items()}
        function = rows.in_torch(program, [*sizes])
        got = function(*(torch.from_numpy(x.copy()) for x in given.values())).numpy()
        assert np.array_equal(got, rows.ran(program, given)[program[-1][0]])


def test_nine_kernels_move_what_the_copy_of_the_card_allows():
    """The text says 4.1 to 4.4 TB/s, 22 arrays against 2, and factors of 10.7 and 7.9."""
    figures = kernels.FIGURES
    times = [us for _, us in figures["eager"]]
    (compiled,) = [us for _, us in figures["compiled"]]
    rates = [
        kernels._moved(reads + 1, us)[1] for reads, us in zip(kernels.READS, times, strict=True)
    ]
    assert len(times) == 9 and all(4.1 < x < 4.4 for x in [*rates, kernels._moved(2, compiled)[1]])
    assert kernels.times_bytes() == 11
    assert sum(times) / compiled == pytest.approx(10.7, abs=0.05)
    assert figures["eager ms"] / figures["compiled ms"] == pytest.approx(7.9, abs=0.05)
    reads = [len({*operands}) for _, operands in _operations_of_gelu()]
    assert tuple(reads) == kernels.READS


def _operations_of_gelu():
    """Each operation of GELU, and the arrays that it reads."""
    import torch

    (graph,) = dynamo.graphs_of(gelu, torch.ones(4))
    return [(node.name, node.all_input_nodes) for node in graph.graph.nodes
            if node.op.startswith("call")]  # fmt: skip


def test_inductor_writes_what_is_recorded():
    """For AVX-512, whatever runs here: the C++ is written and not compiled."""
    assert kernels.by_inductor() == dict(kernels.CPP)


def test_torch_answers_as_the_table_is_read():
    theirs = {"graphs": 2, "global": [2.0, 3.0], "prints": 3, "place": [2.0, 2.0]}
    got = kernels.by_torch()
    assert {key: got[key] for key in theirs} == theirs and got["branch"].startswith("2 graphs")


def test_the_server_compiles_three_times():
    assert cache.served() == [0, 1, 3]


def test_a_least_cut_stores_two_arrays_where_there_are_six():
    from torch._functorch import partitioners as by

    assert dynamo.halves(by.default_partition) == (10, 6, 15)  # the tenth is a detach
    assert dynamo.halves(by.min_cut_rematerialization_partition) == (9, 2, 20)


def test_the_block_is_divided_where_our_compiler_lacks_an_op():
    nodes = division.listed_block()
    takes = {op for _, op, _ in nodes} - {"t"}
    steps = slot("u15.parts").reference(nodes, takes)
    assert len(division.in_order(nodes, takes)) == 7
    assert [who for who, *_ in steps].count("ours") == 1
    kept: list[division.Divided] = []
    assert division._called(division.backend(slot("u15.parts").reference, {"gelu"}, kept)) < 1e-5
    assert kept[0].ran == ["course", "torch", "course"]


def test_the_guards_of_the_example_are_dynamos():
    text_of = str(cache.calls_told([("n", "<", 16)], (8, 9, 12, 20, 12)))
    guards = [line.split(maxsplit=2)[2].strip() for line in text_of.splitlines()[1:]]
    assert guards == ["n == 8", "2 <= n <= 15", "no new graph", "16 <= n", "no new graph"]


def test_inductor_stores_a_value_with_several_readers_as_the_text_says():
    from torch._inductor import config

    assert config.realize_reads_threshold == 4
    assert config._realize_opcount_threshold_default == 30
    assert config.realize_cpu_opcount_threshold == 50
