"""Drawn graphs: every node is there, changes are found, boxes never overlap."""

import hashlib
import itertools
import subprocess
import time
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.draw.graphs.boxes import BAND, WHOLE_MODEL, _height, _width, draw_scene, lay_out
from course_lib.draw.graphs.compare import changes
from course_lib.draw.graphs.dot import dot_source
from course_lib.draw.graphs.graph import before_after, graph
from course_lib.draw.graphs.layout import Size, layered
from course_lib.draw.graphs.lines import changed_lines, node_lines
from course_lib.draw.graphs.scene import scene
from course_lib.draw.graphs.stages import slider
from course_lib.ir.graph.build import exp, matmul, mean, relu, reshape, softmax, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.registry import flops
from course_lib.ir.stage import Stage

NAMESPACE = "{http://www.w3.org/2000/svg}"


def residual_block(blocks: int = 1) -> Graph:
    """A residual network with the names of modules, like a traced ResNet."""

    def net(x):
        for k in range(blocks):
            y = x
            for part in ("conv1", "conv2"):
                origin = (f"layer1.{k}.{part}",)
                weight = np.ones((4, 4, 3, 3), np.float32)
                y = apply("conv", y, weight, pads=(1, 1, 1, 1), origin=origin)
                y = apply("batch_norm", y, *[np.ones(4, np.float32)] * 4, origin=origin)
                y = apply("relu", y, origin=origin) if part == "conv1" else y
            x = apply("relu", apply("add", x, y, origin=(f"layer1.{k}",)), origin=(f"layer1.{k}",))
        x = reshape(mean(x, axes=(2, 3)), (1, 4))
        return softmax(matmul(x, np.ones((4, 3), np.float32)))

    return trace(net, "f32[1,4,8,8]", name="net")


def fused_graph() -> Graph:
    x, p = inp("x", "f32[4]"), inp("p", "f32[4]")
    body = Graph.of([p], [p * 2.0 + 1.0], "body")
    return Graph.of([x], [softmax(apply("fused", exp(x), body=body))], "f")


def parse(markup: str) -> ET.Element:
    return ET.fromstring(markup.removeprefix("<!DOCTYPE html>\n"))


def words_of(element: ET.Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


# ── graphs ──


def test_a_constant_is_told_exactly():
    g = trace(lambda x: (x + -0.0) * 0.1, "f32[4]")
    tips = [words_of(e) for e in parse(graph(g).svg).iter(f"{NAMESPACE}title")]
    assert {"value = -0.0", "value = 0.1"} <= {" ".join(t.split()[-3:]) for t in tips}


def test_every_node_is_in_the_picture():
    g = residual_block()
    words = words_of(parse(graph(g).svg))
    for node in g.ops:
        assert node.op in words
    tips = [words_of(e) for e in parse(graph(g).svg).iter(f"{NAMESPACE}title")]
    assert sum("FLOP; " in tip for tip in tips) == len(g.ops), "the cost is in the tooltips"
    assert any("from layer1.0.conv1" in tip for tip in tips)
    boxes = [i for i in scene(g, {}, {}).items if i.shape != "output"]
    assert len(boxes) == len(g.ops) + len(g.inputs)
    drawn_constants = sum(len(i.tabs) for i in boxes)
    assert drawn_constants >= 4 and any(
        t.text.startswith("+ 2 more") for i in boxes for t in i.tabs
    )


def test_fused_bodies_are_regions():
    drawn = scene(fused_graph(), {}, {})
    (region,) = drawn.regions
    assert [drawn.items[k].title for k in region.members] == ["mul", "add"]
    assert "fused: elementwise" in graph(fused_graph()).svg


def test_marks_by_node_or_by_printed_name():
    g = trace(lambda x: exp(relu(x)), "f32[4]")
    assert graph(g, marked=["%1"]).svg == graph(g, marked=[g.outputs[0]]).svg
    assert "◆   %1 = exp" in graph(g, marked=["%1"]).text
    with pytest.raises(ValueError, match="no '%7' to mark"):
        graph(g, marked=["%7"])


def test_heat_shows_amounts_and_colours_what_is_near_the_hottest():
    g = residual_block()
    cost = {node: flops(node) for node in g.ops}
    drawn = scene(g, {}, {}, cost).items
    heats = [item.heat for item in drawn if item.title == "conv"]
    assert heats == [1.0, 1.0] and "18.4 kFLOP" in drawn[1].details
    assert [item.heat for item in drawn if item.shape == "input"] == [None]
    assert "cl-heat4" in graph(g, heat=cost).svg.split("</style>")[1]
    fused = fused_graph()
    inside = scene(fused, {}, {}, {fused.ops[1].attrs["body"].ops[0]: 20.0}, "µs").items
    assert [i.details[-1] for i in inside if i.heat is not None] == ["20 µs"]


def test_a_symbolic_size_is_drawn():
    assert "f32[n,4]" in graph(trace(lambda x: relu(x), "f32[n,4]")).svg


def test_what_no_output_needs_looks_unused():
    x = inp("x", "f32[4]")
    y, dead = relu(x), exp(x)
    g = Graph.of([x], [y], "g", also=[dead])
    states = {i.title: i.state for i in scene(g, {}, {}).items}
    assert states == {"%x": "", "exp": "unused", "relu": "", "output": ""}
    assert "no output needs it" in graph(g).svg
    assert "no output needs it" not in graph(Graph.of([x], [y])).svg


def test_graphs_without_ops_are_drawn():
    x = inp("x", "f32[4]")
    for g in (
        Graph.of([x], [x], "same"),
        Graph.of([], [], "empty"),
        Graph.of([x], [const(1.0)], "c"),
    ):
        parse(graph(g).svg)


def test_a_long_chain_is_not_a_deep_recursion():
    """Python stops at 1,000 calls within each other."""

    def net(x):
        for _ in range(1200):
            x = relu(x)
        return x

    g = trace(net, "f32[4]")
    assert graph(g).svg.count(">relu<") == 1200
    assert not changes(g, trace(net, "f32[4]")).gone


def test_a_model_of_a_few_hundred_nodes_is_small_and_quick():
    g = residual_block(20)
    assert len(g.nodes) > 300
    start = time.process_time()
    svg = graph(g).svg
    assert len(svg) < 300_000
    # Not a benchmark: it takes 0.05 s, and a layout that is quadratic would take minutes.
    assert time.process_time() - start < 60


# ── what changed ──


def test_rebuilt_nodes_are_not_changes():
    def net(x):
        return softmax(relu(x / 2.0) + 1.0)

    before = trace(net, "f32[4]")
    after = before.rebuild(lambda node, new: new[0] * 0.5 if node.op == "div" else None)
    after = Graph.of(after.inputs, after.outputs, after.name)
    found = changes(before, after)
    assert sorted(n.op for n in found.gone) == ["constant", "div"]
    assert sorted(n.op for n in found.new) == ["constant", "mul"]
    assert "2 removed, 2 added" in before_after(before, after).text


def test_merged_nodes_are_removed_once():
    x = inp("x", "f32[4]")
    a, b = relu(x), relu(x)
    found = changes(Graph.of([x], [a + b]), Graph.of([x], [a + a]))
    assert found.gone == {b} and not found.new


def test_the_same_computation_made_anew_is_no_change():
    found = changes(residual_block(), residual_block())
    assert not found.gone and not found.new and len(found.was) == len(residual_block().nodes)
    assert "nothing changed" in before_after(residual_block(), residual_block()).text


def test_constants_differ_by_their_bytes():
    x = inp("x", "f32[2]")
    old, new = const([1.0, 2.0]), const([1.0, 3.0])
    found = changes(Graph.of([x], [x + old]), Graph.of([x], [x + new]))
    assert (found.gone, found.new) == ({old}, {new})


def test_a_constant_is_read_once_in_a_step_of_the_slider(monkeypatch):
    read = []

    def sha256(content):
        read.append(content)
        return hashlib.sha256(content)

    x = inp("x", "f32[2]")
    old, new = (Graph.of([x], [x + const([1.0, k])]) for k in (2.0, 3.0))
    monkeypatch.setattr("course_lib.draw.graphs.compare.hashlib", SimpleNamespace(sha256=sha256))
    slider([Stage("import", old), Stage("fold", new)], "f")
    assert sorted(read) == sorted(g.constants[0].value.tobytes() for g in (old, new))


def test_fusion_removes_nothing_and_forms_a_group():
    x = inp("x", "f32[4]")
    before = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f")
    summary = before_after(before, fused_graph()).text.splitlines()[0]
    assert summary.endswith("7 nodes → 4 nodes: 1 group formed")


# ── bytes at the lines ──


def test_lines_between_kernels_say_their_bytes_and_lines_inside_say_nothing():
    x = inp("x", "f32[4]")
    before = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f")
    apart, together = (
        scene(before, {}, {}, edge_bytes={}),
        scene(fused_graph(), {}, {}, edge_bytes={}),
    )
    assert [n.text for n in apart.notes.values()] == ["16 B"] * 5
    titles = [item.title for item in together.items]
    read = {(titles[a], titles[b]) for a, b in together.notes}
    assert read == {("%x", "exp"), ("exp", "mul"), ("add", "softmax"), ("softmax", "output")}


def test_fusion_marks_the_bytes_that_are_no_longer_read():
    x = inp("x", "f32[4]")
    before = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f")
    picture = before_after(before, fused_graph(), edge_bytes=True)
    assert "16 B on 1 line are no longer read from memory" in picture.text
    assert "no longer read from memory\n  %2 by %4: 16 B" in picture.text
    assert picture.svg.count(">− 16 B<") == 1 and "− removed" in picture.svg
    assert "no longer" not in before_after(before, before, edge_bytes=True).text
    assert "16 B" not in before_after(before, fused_graph()).text


def test_a_value_that_is_also_read_outside_its_kernel_keeps_that_line():
    x = inp("x", "f32[4]")
    y = exp(x)
    before = Graph.of([x], [relu(y), y * y], "f")
    assert "no longer" not in before_after(before, before, edge_bytes=True).text
    notes = scene(before, {}, {}, edge_bytes={}).notes
    assert len(notes) == 5 and {n.text for n in notes.values()} == {"16 B"}


def test_words_at_a_line_lie_on_no_box():
    drawn = scene(residual_block(2), {}, {}, edge_bytes={})
    layout = lay_out(drawn)
    words = parse(f"<svg>{''.join(draw_scene(drawn, layout))}</svg>").findall("text")
    notes = [text for text in words if (text.text or "").endswith("B")]
    assert len(notes) == len(drawn.notes) == len(drawn.edges)
    boxes = list(boxes_of(drawn, layout))
    for note in notes:
        wide, x, y = 5.8 * len(note.text or ""), float(note.get("x", 0)), float(note.get("y", 0))
        left = x - wide if "cl-e" in note.get("class", "").split() else x
        assert left >= 0 and left + wide <= layout.width
        overlaps = [a < left + wide and left < c and b < y and y - 7 < d for a, b, c, d in boxes]
        assert not any(overlaps)


# ── texts of graphs, compared by nodes ──


def signs(picture) -> list[str]:
    return [line for line in picture.text.splitlines() if line[:1] in ("−", "+")]


def test_a_line_that_only_got_another_number_is_not_marked():
    x = inp("x", "f32[4]")
    dead, kept = relu(x), exp(x)
    before = Graph.of([x], [kept * kept], "g", also=[dead])
    after = Graph.of([x], [kept * kept], "g")
    assert signs(changed_lines(before, after, "dce")) == ["−   %0 = relu(%x) : f32[4]"]
    assert "\n    %1 = mul(%0, %0)" in changed_lines(before, after, "dce").text


def test_a_line_that_only_moved_is_not_marked():
    x = inp("x", "f32[4]")
    a, b = relu(x), exp(x)
    total = a + b
    before = Graph("g", (x,), (x, a, b, total), (total,))
    after = Graph("g", (x,), (x, b, a, total), (total,))
    assert signs(changed_lines(before, after, "order")) == []


def test_fusion_marks_the_lines_of_the_group_and_not_those_in_it():
    x = inp("x", "f32[4]")
    before = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f")
    marked = signs(changed_lines(before, fused_graph(), "fuse"))
    assert [line.split()[1] for line in marked] == ["%1", "return", "}}"]


def test_every_line_of_the_text_is_there_once():
    for g in (fused_graph(), residual_block(), Graph.of([], [], "empty")):
        assert [line for line, _ in node_lines(g)] == print_graph(g).splitlines()
        assert signs(changed_lines(g, g, "nothing")) == []


def test_the_slider_names_each_pass_and_what_went_and_came():
    x = inp("x", "f32[4]")
    before = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f", also=[relu(x)])
    apart = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f")
    stages = [
        Stage("import", before),
        Stage("cse", before),
        Stage("dce", apart),
        Stage("fuse", fused_graph()),
        Stage("llvm", "define void @f()"),
    ]
    picture = slider(stages, "f")
    names = [e.get("aria-label") for e in parse(picture.html).iter("input")]
    assert names == ["0. import", "1. cse", "2. dce −1", "3. fuse 1 group", "4. llvm"]
    assert [line.split()[3] for line in signs(picture) if "−" in line] == ["relu(%x)"]


def test_long_stages_are_cut_and_counted():
    picture = slider([Stage("import", residual_block()), Stage("llvm", "x\n" * 9)], "m", longest=5)
    assert "... and 4 more lines" in picture.text and "... and 20 more lines" in picture.text


# ── layout ──


@st.composite
def acyclic(draw):
    count = draw(st.integers(1, 14))
    pairs = list(itertools.combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), max_size=24, unique=True)) if pairs else []
    size = st.floats(4, 90)
    return [Size(draw(size), draw(size), draw(size)) for _ in range(count)], sorted(edges)


@given(acyclic())
def test_boxes_never_overlap_and_lines_run_down(case):
    sizes, edges = case
    layout = layered(sizes, edges)
    corners = []
    for size, (x, y) in zip(sizes, layout.at, strict=True):
        left, right = x - size.left, x + size.right
        top, low = y - size.height / 2, y + size.height / 2
        assert left >= -0.01 and right <= layout.width + 0.01
        assert top >= -0.01 and low <= layout.height + 0.01
        corners.append((left, top, right, low))
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(corners, 2):
        assert c <= e + 0.01 or g <= a + 0.01 or d <= f + 0.01 or h <= b + 0.01
    for line in layout.lines:
        assert all(y0 <= y1 + 0.01 for (_, y0), (_, y1) in itertools.pairwise(line))


@pytest.mark.parametrize("blocks", [3, 12])  # laid out by us, and by Graphviz if it is there
def test_the_longest_way_is_straight(blocks):
    drawn = scene(residual_block(blocks), {}, {})
    layout = lay_out(drawn)
    conv = [x for item, (x, _) in zip(drawn.items, layout.at, strict=True) if item.title == "conv"]
    assert max(conv) - min(conv) < 2.0


def boxes_of(scene, layout):
    for item, (x, y) in zip(scene.items, layout.at, strict=True):
        half, height = _width(item) / 2, _height(item) / 2
        yield x - half, y - height, x + half, y + height


def squares(count: int) -> Graph:
    """A chain in which every node reads the one above it twice."""

    def chain(x):
        for _ in range(count):
            x = x * x
        return x

    return trace(chain, "f32[2]")


def arrivals(drawn, layout):
    """Where the lines arrive, by the two boxes that they join."""
    found = {}
    for pair, line in zip(drawn.edges, layout.lines, strict=True):
        found.setdefault(pair, []).append(line[-1][0])
    return found


def test_a_value_that_is_read_twice_has_two_arrows():
    tips = parse(graph(squares(1)).svg).findall(f".//{NAMESPACE}path[@class='cl-tip']")
    assert len({tip.get("d") for tip in tips}) == 3  # two on the product, one on the output
    drawn = scene(squares(1), {}, {})
    twice, once = sorted(arrivals(drawn, lay_out(drawn)).values(), key=len, reverse=True)
    assert len(once) == 1 and len(twice) == 2 and abs(twice[0] - twice[1]) >= 8


def test_both_arrows_are_there_when_the_value_is_far_above():
    far = trace(lambda x: (y := relu(x), z := exp(exp(exp(x))), z * (y * y))[-1], "f32[2]")
    drawn = scene(far, {}, {})
    two = [xs for xs in arrivals(drawn, lay_out(drawn)).values() if len(xs) == 2]
    assert len(two) == 1 and len(set(two[0])) == 2


def test_graphviz_draws_both_arrows_apart(require_tool):
    require_tool("dot")
    drawn = scene(squares(WHOLE_MODEL), {}, {})
    layout = lay_out(drawn)
    assert layout.curved
    pairs = [xs for xs in arrivals(drawn, layout).values() if len(xs) == 2]
    assert len(pairs) == WHOLE_MODEL and all(abs(a - b) >= 8 for a, b in pairs)
    first, second = layout.lines[:2]
    assert first != second and len(first) == len(second)


def test_graphviz_lays_out_whole_models(require_tool):
    require_tool("dot")
    drawn = scene(residual_block(12), {}, {})
    assert len(drawn.items) >= WHOLE_MODEL
    layout = lay_out(drawn)
    assert layout.curved and not lay_out(scene(residual_block(3), {}, {})).curved
    boxes = list(boxes_of(drawn, layout))
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert c <= e or g <= a or d <= f or h <= b
    for (tail, head), line in zip(drawn.edges, layout.lines, strict=True):
        assert line[0][1] == pytest.approx(boxes[tail][3]) and len(line) % 3 == 1
        assert line[-1][1] == pytest.approx(boxes[head][1])
    assert all(a >= 0 and c <= layout.width + 1 for a, _, c, _ in boxes)


@pytest.mark.parametrize("program", ["exit 1", "exec sleep 600", None])
def test_without_graphviz_a_whole_model_looks_as_the_small_ones_do(program, tmp_path, monkeypatch):
    if program:
        (tmp_path / "dot").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if program else str(tmp_path))
    monkeypatch.setattr("course_lib.draw.graphs.dot.SECONDS", 0.2)
    drawn = scene(residual_block(12), {}, {})
    assert not lay_out(drawn).curved


def test_a_whole_model_with_fused_kernels_is_laid_out_by_us():
    x = inp("x", "f32[4]")
    value = x
    for _ in range(WHOLE_MODEL):
        p = inp("p", "f32[4]")
        value = apply("fused", value, body=Graph.of([p], [p * 2.0 + 1.0], "body"))
    assert not lay_out(scene(Graph.of([x], [value]), {}, {})).curved


def test_graphviz_reads_our_source(require_tool):
    for g in (fused_graph(), residual_block()):
        result = subprocess.run(
            [require_tool("dot"), "-Tplain"], input=dot_source(g), capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        nodes = [line for line in result.stdout.splitlines() if line.startswith("node ")]
        drawn = len(scene(g, {}, {}).items)
        assert len(nodes) >= drawn


def test_the_band_of_a_region_around_others_stays_inside_the_picture():
    x, w = inp("x", "f32[8,8]"), inp("w", "f32[8,8]")
    a = relu(x)
    b = a + exp(matmul(a, w))
    seen = scene(Graph.of([x, w], [b]), {}, {"one kernel?": [a, b]})
    points = [point for line in lay_out(seen).lines for point in line]
    assert min(x for x, _ in points) >= BAND / 2
