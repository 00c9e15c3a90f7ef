"""Systems in turns, each in a process of its own: one that is wrong, crashes, hangs or prints.

The odd systems are written here; course and onnxruntime are real.
"""

import os
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from course_lib.ir.graph.build import relu, trace
from course_lib.peers import running
from course_lib.peers.around import available
from course_lib.peers.contest import contest
from course_lib.peers.model import Model
from course_lib.peers.peer import PEERS, Peer
from course_lib.peers.running import Failed, Running

ODD = """
import os, sys, time
import numpy as np
from course_lib.peers import child
from course_lib.peers.peer import PEERS, Peer, Prepared

class Odd(Prepared):
    def __init__(self, inputs, how):
        self.inputs, self.how, self.calls = inputs, how, 0

    def call(self):
        self.calls += 1
        if self.how == "crashes" and self.calls > 4:
            print("it is the fifth time", file=sys.stderr, flush=True)
            os.abort()
        if self.how == "hangs":
            time.sleep(60)
        if self.how == "prints":
            os.write(1, b'{"times": [0.0]}\\n')
            print('{"times": [0.0]}')
        return [np.maximum(x, 0) + np.float32(self.how == "is wrong") for x in self.inputs]

    def stages(self):
        return {"text": "relu"}

    def kernels(self):
        return ["relu"]

def prepare(model, threads, how):
    if how == "refuses":
        raise ValueError("it does not know relu")
    if how == "has no room":
        raise MemoryError
    return Odd(model.inputs, how)

def main():
    sys.modules["course_lib.peers.odd"] = sys.modules[__name__]
    for how in ("is right", "is wrong", "crashes", "hangs", "prints", "refuses", "has no room"):
        PEERS[how] = Peer(how, "odd", ("numpy",), "source", options={"how": how})
    child.main()
"""
HOW = ("is right", "is wrong", "crashes", "hangs", "prints", "refuses", "has no room")


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """The odd systems stand in the table, here and in the processes."""
    (tmp_path / "odd_child.py").write_text(ODD)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(running, "CHILD", "odd_child")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for how in HOW:
        monkeypatch.setitem(PEERS, how, Peer(how, "odd", ("numpy",), "source"))
    absent = Peer("is absent", "odd", ("numpy",), "source", {"no-such-tool": "it asks it"})
    monkeypatch.setitem(PEERS, "is absent", absent)
    yield tmp_path
    assert not list(tmp_path.glob("course-peer-*")), "a folder is left"


@pytest.fixture
def model() -> Model:
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    return Model("relu", trace(relu, "f32[8]"), (x,))


@pytest.mark.usefixtures("odd")
def test_what_goes_wrong_with_one_system_is_told_and_the_others_go_on(model):
    names = ["course", "is right", "is wrong", "crashes", "prints", "refuses", "has no room",
             "is absent", "onnxruntime"]  # fmt: skip
    found = contest(model, names, rounds=5, seconds=0.05)
    entries = {entry.system: entry for entry in found.entries}
    assert [e.system for e in found.entries if e.seconds] == [
        "course", "is right", "prints", "onnxruntime"
    ]  # fmt: skip
    assert all(e.seconds > 0 and len(e.rounds) == 5 for e in found.timed(1) if e.seconds)
    assert entries["course"].kernels == entries["onnxruntime"].kernels == 1
    assert entries["course"].version.startswith("course-lib ") and entries["course"].peak_bytes
    assert entries["is wrong"].problem.startswith("its result is wrong: 1.0e+00 of the largest")
    assert "onnx's reference evaluator in float64" in entries["is wrong"].problem
    assert entries["crashes"].problem == (
        "crashed: SIGABRT; it printed at last: it is the fifth time"
    )
    assert entries["refuses"].problem == "it does not know relu"
    assert entries["has no room"].problem == "it needs more memory than there is"
    assert entries["is absent"].problem == "it needs no-such-tool (it asks it)"
    assert len(found.timed(1)) == 4 and found.base(1) is entries["course"]


@pytest.mark.usefixtures("odd")
def test_one_that_hangs_is_ended(model, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE", 3.0)
    (entry,) = contest(model, ["hangs"], rounds=1, seconds=0.01).entries
    assert entry.problem.startswith("hangs: nothing was heard") and entry.seconds is None


@pytest.mark.usefixtures("odd")
def test_after_ctrl_c_whole_rounds_are_kept_and_nobody_runs_on(model):
    seen: list[int] = []

    def tell(words: str) -> None:
        if words.startswith("round 3"):
            seen.extend(children())
            raise KeyboardInterrupt

    found = contest(model, ["is right", "prints"], (1,), 5, 0.05, tell)
    assert found.interrupted and [len(entry.rounds) for entry in found.entries] == [2, 2]
    assert len(seen) == 2 and not set(seen) & set(children())


def children() -> list[int]:
    """Processes that this one has started and that still run."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(n) for n in listed if "odd_child" in Path(f"/proc/{n}/cmdline").read_text()]


@pytest.mark.usefixtures("odd")
def test_a_process_has_its_processors_and_answers_each_question(model, tmp_path):
    core = available()[-1]
    with Running("is right", model, threads=1, cores=[core]) as engine:
        status = Path(f"/proc/{engine.process}/status").read_text()
        assert f"Cpus_allowed_list:\t{core}\n" in status
        np.testing.assert_array_equal(engine.outputs()[0], np.maximum(model.inputs[0], 0))
        assert engine.stages() == {"text": "relu"} and engine.kernels() == ["relu"]
        assert engine.peak() > 1 << 20 and min(engine.times(0.01)) > 0 and engine.again() >= 0
    with pytest.raises(Failed, match="does not know relu"):
        Running("refuses", model)


def test_more_threads_than_processors_and_unknown_systems_are_refused(model):
    with pytest.raises(ValueError, match="each thread gets a processor of its own"):
        contest(model, ["course"], [1, len(available()) + 1])
    with pytest.raises(ValueError, match=r"there is no system 'gcc'; the systems are course, "):
        contest(model, ["gcc"])


def test_weights_in_another_file_are_handed_over_with_the_model(tmp_path):
    weights = onnx.numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
        [value("x", 1, [1, 4])], [value("y", 1, [1, 4])], [weights],
    )  # fmt: skip
    path = tmp_path / "model.onnx"
    onnx.save(onnx.helper.make_model(graph), path, save_as_external_data=True, size_threshold=0)
    whole = Model("g", path, (np.ones((1, 4), np.float32),)).onnx
    assert whole != path.read_bytes()
    assert onnx.load_from_string(whole).graph.initializer[0].raw_data == weights.raw_data
