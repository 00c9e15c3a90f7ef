"""Unit 3: its figures are true, its evidence is what it says, its words help."""

import numpy as np
import onnx
import pytest

from autograder.check.framework import mutants_of
from autograder.check.outside import Lost
from autograder.check.verdict import GRADER
from autograder.notebook import check
from autograder.units.u03.checks import onnx_results
from autograder.units.u03.checks.onnx import FOLD
from autograder.units.u03.checks.onnx_models import block
from autograder.units.u03.checks.onnx_relu import RELU
from autograder.units.u03.checks.should_fuse import (
    BEST,
    MOST_WORK,
    OURS,
    REFERENCE,
    STAND_IN,
    bytes_moved,
)
from autograder.units.u03.exercises import REFERENCE_BILL
from autograder.units.u03.mutants.fuse import by_weighing
from autograder.validate import verdict_of
from autograder.wire.codec import Codec, Unsendable
from course_lib.cost.work import operations
from course_lib.exercises import baselines, plugged, slot
from course_lib.ir.graph.build import exp, neg, reduce_sum, relu, trace, transpose
from course_lib.ir.graph.graph import value_names
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import flops
from course_lib.lower.executed import executed
from course_lib.lower.lower import lower
from course_lib.models import MODELS
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.absorb_pads import absorb_pads
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.groups import (
    MOVES,
    REDUCTIONS,
    as_kernels,
    check_group,
    fits,
    kind_of,
    per_row,
)
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.prepare.decompose import decompose
from lessons.makers import written
from lessons.u03 import measuring
from lessons.u03.elsewhere import (
    INDUCTOR_SOFTMAX,
    XLA_SOFTMAX,
    recorded_costs,
)
from lessons.u03.evidence import EVIDENCE, GROUPS, REASONS
from lessons.u03.files import exported, operators, session, share
from lessons.u03.measuring import (
    CORE,
    PASSES,
    conv_relu,
    cost,
    fastest,
    fused,
    ready,
    refused,
    together,
)
from lessons.u03.programs import PROGRAMS

WITH_MUTANTS = ["u03.saved", RELU, *CORE]
WITH_MUTANTS += ["u03.cycle", "u03.illegal", "passes.bn_fold", FOLD, "passes.horizontal"]


def kernels(graph):
    return [node for node in graph.ops if node.op != "reshape"]


# ── figures ──


@pytest.mark.parametrize("name", REFERENCE_BILL)
def test_the_bill(name, imported):
    after = fused(imported(name), *CORE)
    count, megabytes = REFERENCE_BILL[name]
    assert len(kernels(after)) == count
    assert bytes_moved(after) / 1e6 == pytest.approx(megabytes, rel=5e-3)


def test_absorbed_pads_leave_fewer_kernels(imported):
    absorbed = run_passes(fused(imported("resnet18"), *CORE), [absorb_pads, dce])
    assert len(kernels(absorbed)) == 32
    assert bytes_moved(absorbed) / 1e6 == pytest.approx(83.4, rel=1e-3)


def test_a_right_fuse_is_not_blamed_for_a_heuristic():
    with plugged("passes.should_fuse", lambda producer, consumer: False):
        verdict = check("passes.should_fuse")
    assert verdict.kind == "wrong" and "Answer passes.fuse first" not in verdict.problem


def test_what_no_kernel_of_ours_holds():
    x, w = inp("x", "f32[1,2,8,8]"), inp("w", "f32[2,2,1,1]")
    padded = apply("pad", x, low=(0, 0, 1, 1), high=(0, 0, 1, 1))
    convolved = apply("conv", x, w)
    pooled = apply("max_pool", convolved, kernel=(2, 2), strides=(2, 2))
    assert kind_of([relu(padded), padded]) is None
    assert kind_of([pooled, convolved]) is None


def test_one_yes_can_keep_the_producer_out_of_another_kernel():
    """Refused by the sum, the relu finishes the product: as many kernels, as many bytes."""
    program = trace(lambda x, w: reduce_sum(relu(x @ w), (1,)), "f32[128,256]", "f32[256,1024]")
    with plugged("passes.should_fuse", lambda producer, consumer: True):
        always = fuse(program)
    with plugged("passes.should_fuse", lambda producer, consumer: consumer.op != "reduce_sum"):
        refused = fuse(program)
    assert cost(always) == cost(refused) and [n.op for n in always.ops] == ["matmul", "fused"]
    assert [n.op for n in refused.ops] == ["fused", "reduce_sum"]


def test_on_the_four_models_no_work_is_repeated_however_much_is_fused():
    for graph in map(ready, MODELS):
        with plugged("passes.should_fuse", lambda producer, consumer: True):
            always = fuse(graph)
        assert executed(always) == executed(graph) == sum(map(flops, graph.ops))
        assert len(kernels(always)) == len(kernels(fuse(graph)))


def test_the_heuristic_gains_by_reductions_and_by_rows():
    """And `finishes_contraction` changes no count."""
    same = shape_or_movement
    steps = [
        same,
        lambda p, c: same(p, c) or per_row(p.type.shape, c.type.shape),
        lambda p, c: same(p, c) or per_row(p.type.shape, c.type.shape) or c.op in REDUCTIONS,
    ]
    totals = []
    for heuristic in steps:
        with plugged("passes.should_fuse", heuristic):
            totals.append([cost(fuse(graph)) for graph in PROGRAMS.values()])
    megabytes = [sum(moved for _, moved, _ in rows) for rows in totals]
    assert megabytes == pytest.approx([41.464420, 39.864932, REFERENCE / 1e6])
    assert totals[-1] == [cost(fuse(graph)) for graph in PROGRAMS.values()]


def test_what_folded_batch_norms_save_where_all_is_fused(imported):
    """Further: no kernel, and 0.02 MB."""
    plain = cost(fused(imported("resnet18"), *CORE))
    folded = cost(fused(imported("resnet18"), *CORE, "passes.bn_fold"))
    assert plain[0] == folded[0] == 41
    assert plain[1] - folded[1] == pytest.approx(0.02, abs=0.002)


def test_the_edges_that_equal_shapes_and_movement_refuse():
    """Reductions and numbers for a row, which are to be gained, and edges that repeat work."""
    rows = refused(PROGRAMS, shape_or_movement)
    reductions = [row for row in rows if row[2].split()[0] in REDUCTIONS]
    assert len(rows) > len(reductions) == 2 and {row[0] for row in rows} < {*PROGRAMS}
    assert any(row[0] == "masked" and row[2].startswith("add [4, ") for row in rows)


def test_a_share_of_two_times_is_a_range():
    assert share([40.0, 50.0], [100.0, 80.0]) == (40.0, 62.5)


def test_a_node_of_a_group_does_not_ask_whether_it_fits():
    x = inp("x", "f32[4]")
    one, other = (y := relu(x)), neg(y)
    assert fits(one, [other])
    with pytest.raises(ValueError, match="before you put the node into the group"):
        fits(one, [one, other])


def test_a_new_list_for_each_member_is_told():
    def fuse_into_new_lists(graph):
        group_of = {}
        for node in reversed(graph.nodes):
            readers = graph.users()[node]
            group_of[node] = [*group_of[readers[0]], node] if readers else [node]
        return as_kernels(graph, group_of)

    assert "a new list" in verdict_of(slot("passes.fuse"), fuse_into_new_lists).problem


def test_short_calls_are_timed_for_longer():
    calls = [0]
    fastest({"one": lambda: calls.__setitem__(0, calls[0] + 1)}, rounds=2)
    assert calls[0] > 3, "one to warm it up, two rounds, and more"


def shape_or_movement(producer, consumer):
    """The third heuristic of section 3."""
    return producer.type.shape == consumer.type.shape or producer.op in MOVES


@pytest.mark.parametrize("heuristic", [None, shape_or_movement])
def test_merging_siblings_saves_two_kernels_and_adds_bytes_on_paper(imported, heuristic):
    with plugged("passes.should_fuse", heuristic):
        with baselines("passes.horizontal"):
            vertical = run_passes(imported("block"), PASSES)
        both = run_passes(imported("block"), PASSES)
    assert len(kernels(vertical)) - len(kernels(both)) == 2
    unread = 3 * 2 / 3 * 128 * 768 * 4
    saved = bytes_moved(vertical) - (bytes_moved(both) - unread)
    assert saved == 2 * 128 * 256 * 4, "x is read once instead of three times"


def test_the_score_of_the_heuristic():
    assert {name: bytes_moved(fuse(graph)) for name, graph in PROGRAMS.items()} == OURS
    assert sum(OURS.values()) == REFERENCE
    wrong = mutants_of("passes.should_fuse")
    same_shape = wrong["only_the_same_shape"]
    for heuristic, total in ((same_shape, STAND_IN), (by_weighing, BEST)):
        with plugged("passes.should_fuse", heuristic):
            fused = {name: fuse(graph) for name, graph in PROGRAMS.items()}
        assert sum(map(bytes_moved, fused.values())) == total
        for name, graph in PROGRAMS.items():
            assert executed(fused[name]) <= MOST_WORK * executed(graph)
            lower(fused[name])
    stand_in = verdict_of(slot("passes.should_fuse"), same_shape)
    assert stand_in.earned == pytest.approx(0.3 * stand_in.points, abs=0.01)
    no_slices = verdict_of(slot("passes.should_fuse"), wrong["never_movement"])
    assert stand_in.earned is not None and no_slices.earned is not None
    assert stand_in.earned < no_slices.earned < stand_in.points, "movement counts"
    said = slot("passes.should_fuse").doc
    for megabytes in (STAND_IN, REFERENCE, BEST):
        assert f"{megabytes / 1e6:.1f} MB" in said


def test_the_numbers_in_the_text():
    stretched = trace(lambda v, m: m * exp(v), "f32[1024]", "f32[512,1024]")
    assert executed(together(stretched)) - executed(stretched) == 523_264
    assert bytes_moved(stretched) - bytes_moved(together(stretched)) == 2 * 4096
    mirrored = trace(lambda x: (p := exp(x)) + transpose(p, (1, 0)), "f32[512,512]")
    assert executed(fuse(mirrored)) == 1.5 * executed(mirrored), "exp is computed at both places"
    mask = 128 * 128
    masked = PROGRAMS["masked"]
    with plugged("passes.should_fuse", lambda producer, consumer: True):
        always = fuse(masked)
    assert executed(always) - executed(masked) == 3 * 2 * mask == 98_304
    assert bytes_moved(fuse(masked)) - bytes_moved(always) == 2 * 4 * mask == 131_072
    assert len(kernels(fuse(masked))) - len(kernels(always)) == 1


@pytest.mark.parametrize("op, count", [("softmax", 5), ("layer_norm", 11)])
def test_rows_are_one_kernel(op, count):
    vectors = [np.ones(64, np.float32)] * (2 if op == "layer_norm" else 0)
    plain = decompose(trace(lambda x: apply(op, x, *vectors, axis=-1), "f32[8,64]"))
    assert len(plain.ops) == count
    one = together(plain)
    (node,) = one.ops
    assert node.attrs["kind"] == "rowwise"
    x = np.random.default_rng(0).standard_normal((8, 64), np.float32)
    assert np.allclose(run(one, [x])[0], run(plain, [x])[0])


def test_fusing_halves_the_bytes_of_a_convolution_and_its_relu():
    """Section 1: operations for each byte saved."""
    for (kernel, groups), least, most in (((3, 1), 100, 200), ((3, 64), 1.5, 3)):
        program = conv_relu(kernel, groups)
        (_, two, _), (_, one, _) = cost(program), cost(together(program))
        assert one / two == pytest.approx(0.5, abs=0.02)
        convolution = next(n for n in program.ops if n.op == "conv")
        assert least < flops(convolution) / (1e6 * (two - one)) < most


# ── files ──


@pytest.fixture(scope="module")
def resnet():
    return {kept: exported("resnet18", batch_norms=kept) for kept in (True, False)}


def test_the_files_have_as_many_nodes_as_the_text_says(resnet):
    assert len(resnet[True].graph.node) == 69 and len(resnet[False].graph.node) == 49
    assert operators(resnet[True])["BatchNormalization"] == 20
    fused = slot(RELU).reference(resnet[False])
    assert operators(fused)["FusedConv"] == 9 and operators(fused)["Relu"] == 8
    assert len(session(fused, "off")[1]) == len(session(resnet[True], "extended")[1]) == 40
    assert len(session(resnet[True], "all but layout")[1]) == 24


@pytest.mark.parametrize("conv, relu", [("mine.Conv", "Relu"), ("Conv", "mine.Relu")])
def test_operators_of_another_domain_stay(conv, relu):
    text = f"""<ir_version: 8, opset_import: ["": 17, "mine": 1]>
    pair (float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] w = {{1.0, 2.0, 3.0, 4.0}}>
    {{ c = {conv}(x, w) y = {relu}(c) }}"""
    model = onnx.parser.parse_model(text)
    assert slot(RELU).reference(model) == model


@pytest.mark.parametrize(("wrong", "words"), [
    ("of_any_type", "w holds 32-bit floats"),
    ("nothing", "Make one node of each Conv and the Relu"),
])  # fmt: skip
def test_a_wrong_count_of_pairs_quotes_why_a_pair_stays_or_goes(wrong, words):
    assert words in verdict_of(slot(RELU), mutants_of(RELU)[wrong], shrink=False).spec


def test_a_node_before_its_operand_is_told_in_the_words_of_the_checker():
    def to_the_end(model):
        fused = slot(RELU).reference(model)
        for node in [n for n in fused.graph.node if n.op_type == "FusedConv"]:
            fused.graph.node.append(node)
            fused.graph.node.remove(node)  # the first that is equal
        return fused

    verdict = verdict_of(slot(RELU), to_the_end, shrink=False)
    assert "is not output of any previous nodes" in verdict.problem
    assert "`onnx.checker.check_model` accepts the result" in verdict.spec


def test_the_older_exporter_warns_of_itself_only_where_we_say_so(recwarn):
    exported("mlp", batch_norms=False)
    assert not [w for w in recwarn if "exporter" in str(w.message)]


# ── what other compilers make ──


def test_recorded_softmaxes(imported):
    costs = recorded_costs()
    assert [count for count, _ in costs.values()] == [1, 4]
    softmax = decompose(trace(lambda x: apply("softmax", x), "f32[512,1024]"))
    ours, theirs = cost(together(softmax))[1], costs["Inductor, torch 2.13"][1]
    assert ours < theirs < 1.01 * ours, "two rows of results more"
    assert INDUCTOR_SOFTMAX.count("for(x1") == 3 and "multiply.1" in XLA_SOFTMAX


def test_inductor_writes_two_results_and_we_write_three_kernels():
    import torch

    def two(x):
        e = x.exp()
        return e + 1, e * 2

    made = written(two, torch.ones(512, 1024))
    assert made.count("async_compile.cpp_pybinding") == 1
    assert "float* out_ptr1,\n" in made and "float* out_ptr2)" in made
    apart = written(lambda v, m: m * v.exp(), torch.ones(1024), torch.ones(512, 1024))
    assert apart.count(".exp()") == 1 and apart.index(".exp()") < apart.index("(512L)")
    softmax = written(lambda x: torch.softmax(x, -1), torch.ones(512, 1024))
    assert softmax.count("async_compile.cpp_pybinding") == 1 and "float* out_ptr2)" in softmax


def test_two_results_of_one_value_are_three_kernels_of_ours():
    with plugged("passes.should_fuse", lambda producer, consumer: True):
        graph = fuse(trace(lambda x: [(e := exp(x)) + 1.0, e * 2.0], "f32[512,1024]"))
    assert len(graph.ops) == 3


# ── operations in loops ──


def test_every_iteration_counts():
    kernel = (
        lower(together(trace(lambda x, w: relu(x @ w), "f32[2,3]", "f32[3,5]"))).steps[0].kernel
    )
    assert kernel is not None
    assert operations(kernel) == 2 * 2 * 3 * 5 + 2 * 5
    assert executed(trace(lambda x: apply("cast", x, dtype="i32"), "f32[4]")) == 0


# ── evidence ──


def test_the_groups_are_what_the_answer_says():
    graph = verify(parse_graph(EVIDENCE))
    node_of = {name: node for node, name in value_names(graph).items()}
    assert sorted(n for names in GROUPS.values() for n in names) == sorted(
        node_of[name] and name for name in node_of if node_of[name] in graph.ops
    )
    members_of = {letter: [node_of[n] for n in names] for letter, names in GROUPS.items()}
    users, answer = graph.users(), slot("u03.illegal").reference(graph, members_of)
    for letter, names in GROUPS.items():
        members = [node_of[name] for name in names]
        assert reason(members, users, graph) == answer.get(letter)
        if letter not in answer:
            check_group(members, users, graph.outputs)
        else:
            with pytest.raises(ValueError):
                check_group(members, users, graph.outputs)
    assert set(answer.values()) == set(REASONS)


def reason(members, users, graph):
    """By the definitions of the exercise."""
    if kind_of(members[::-1]) is None:
        return "no such kernel"
    if any(m in graph.outputs for m in members[:-1]):
        return "is an output"
    outside = [u for m in members for u in users[m] if u not in members]
    needed = set(topological_order(members)) - set(members)
    if any(o in needed for o in outside):
        return "waits for itself"
    early = [u for m in members[:-1] for u in users[m] if u not in members]
    return "is read outside" if early else None


# ── ONNX models cross the pipe ──


def test_no_answer_is_to_blame_for_an_onnxruntime_that_does_not_start(monkeypatch):
    def gone(*_):
        raise Lost(None)

    onnx_results._outputs.cache_clear()
    monkeypatch.setattr(onnx_results, "run_onnx", gone)
    entry = slot("frontend.onnx_surgery.fuse_relu")
    verdict = verdict_of(entry, entry.reference, shrink=False)
    onnx_results._outputs.cache_clear()
    assert verdict.kind == GRADER and "costs no points" in repr(verdict)


def test_an_onnx_model_crosses_and_a_pointer_to_a_file_does_not():
    here, there = Codec(), Codec()
    model = block()
    assert there.decode(here.encode([model, 1])) == [model, 1]
    weight = model.graph.initializer[0]
    weight.data_location = onnx.TensorProto.EXTERNAL
    with pytest.raises(Unsendable, match="another file"):
        Codec().decode(Codec().encode(model))
    inside = block()
    value = inside.graph.node[0].attribute.add(name="value", type=onnx.AttributeProto.TENSOR)
    value.t.external_data.add(key="location", value="secret")
    with pytest.raises(Unsendable, match="another file"):
        Codec().decode(Codec().encode(inside))


def test_of_the_operators_of_onnxruntime_only_fused_conv_crosses(resnet):
    fused = slot(RELU).reference(resnet[False])
    assert Codec().decode(Codec().encode(fused)) == fused
    other = block()
    other.graph.node[0].domain = "com.microsoft"
    with pytest.raises(Unsendable, match="not ONNX's own"):
        Codec().decode(Codec().encode(other))


def test_a_model_that_comes_back_is_the_very_one_that_went_out():
    here, there = Codec(), Codec()
    model = block()
    copy = there.decode(here.encode([model]))[0]
    copy.graph.node.pop()
    assert here.decode(there.encode(copy)) is model
    other = block(bias=True)
    assert here.decode(there.encode(other)) == other


# ── feedback ──


def test_doing_nothing_earns_nothing():
    for name in ("passes.bn_fold", "passes.fuse", "passes.horizontal", FOLD, RELU):
        assert verdict_of(slot(name), lambda given: given).earned == 0


def test_the_heuristic_needs_a_fuse_that_fuses():
    with plugged("passes.fuse", lambda graph: graph), plugged("passes.should_fuse", by_weighing):
        verdict = check("passes.should_fuse")
    assert verdict.kind == "wrong" and "Answer passes.fuse first" in verdict.problem


def test_times_are_of_the_processor(monkeypatch):
    """What passes on the clock while another program runs is not counted."""
    spent = iter([0.0, 0.25, 1.0, 1.5])
    monkeypatch.setattr(measuring.time, "process_time", lambda: next(spent))
    monkeypatch.setattr(measuring, "LONG_ENOUGH", 0)
    assert measuring.fastest({"a call": lambda: None}, rounds=2) == {"a call": 250.0}


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=3).text
    for name in WITH_MUTANTS:
        points, bonus = slot(name).points, "bonus " * slot(name).further
        assert f"{name}: passed ({points} of {points} {bonus}point" in text
    assert "needs your answer" not in text
    judged = text.count("You said 10 percent; it is")
    assert judged + text.count("differ too much to judge your guess") == 2
    assert "You said 10 MB; it is 3.21" in text
    assert "is not output of any previous nodes" in text, "the toy surgery forgets the branches"
    bill = text[text.index("kernels before") :].splitlines()
    for name, (count, _) in REFERENCE_BILL.items():
        row = next(line.split() for line in bill if line.startswith(f"{name} "))
        assert row[2:4] == [str(count)] * 2, "yours is ours"
        assert int(row[1]) > count
