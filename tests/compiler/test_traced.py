"""The models of the course as graphs: traced once, and what is kept is what PyTorch gives."""

import pytest

from course_lib.exercises import baselines, plugged
from course_lib.frontend.onnx.surgery import fuse_relu
from course_lib.ir.graph.graph import print_graph
from course_lib.models import MODELS, traced

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path))
    return tmp_path / "graphs"


def test_what_is_kept_is_the_graph_that_was_traced(imported, kept, monkeypatch):
    first = {name: traced.traced(name) for name in MODELS}
    assert len(list(kept.iterdir())) == len(MODELS)
    monkeypatch.setattr(traced, "_trace", None)  # called, it would raise
    for name in MODELS:
        wanted = imported(name)
        for graph in (first[name], traced.traced(name)):
            assert print_graph(graph, "exact") == print_graph(wanted, "exact")
            assert [n.origin for n in graph.nodes] == [n.origin for n in wanted.nodes]
            assert [n.name for n in graph.nodes] == [n.name for n in wanted.nodes]


def test_another_size_another_source_and_another_torch_are_other_files(kept, monkeypatch):
    traced.traced("mlp")
    assert traced.traced("block", [(1, 8, 256)]).inputs[0].type.dims == (1, 8, 256)
    monkeypatch.setattr(traced, "version", lambda name: "0.0")
    traced.traced("mlp")
    monkeypatch.setattr(traced, "sources", lambda *rooms: "others")
    traced.traced("mlp")
    assert len(list(kept.iterdir())) == 4


def test_nothing_is_kept_of_what_an_answer_made(kept):
    with baselines("ir.graph.topological_order"):
        traced.traced("mlp")
    assert not kept.exists()


def test_an_answer_through_which_the_compiler_does_not_run_traces_nothing_again(kept, monkeypatch):
    traced.traced("mlp")
    monkeypatch.setattr(traced, "_trace", None)
    with plugged("frontend.onnx_surgery.fuse_relu", fuse_relu):
        assert traced.traced("mlp").ops


def test_an_unknown_name_is_said():
    with pytest.raises(ValueError, match="no model 'vgg'; the course has mlp, block"):
        traced.traced("vgg")
