"""How processes are started, hidden from, measured and ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import psutil
import pytest
from onnx import TensorProto, helper, numpy_helper

from autograder.check import outside
from autograder.check.alarm import alarm
from autograder.check.framework import Changed, TimedOut
from autograder.grading.assignment import editions
from autograder.grading.grade import grade
from autograder.grading.limits import Budget, Limits, Overrun
from autograder.grading.program import read
from autograder.grading.sandbox import Worker
from autograder.process import start
from autograder.process.running import Child
from autograder.process.start import (
    MISSING,
    PACKAGES,
    SETTING,
    NoSandbox,
    command_line,
    mode,
    protected,
)
from autograder.wire.onnx import Unsendable, read_onnx_model
from course_lib.scratch import Folder, sweep

HERE = Path(start.__file__).parent
GOOD = '@implements("u99.bytes")\ndef f(): return 24'


# ── what is shown ──


def shown(monkeypatch, tmp_path: Path, *hidden: Path) -> str:
    monkeypatch.setattr(start, "_hidden", set(hidden))
    return " ".join(start._shown())


def test_a_checkout_below_the_packages_is_hidden_and_its_environment_is_not(monkeypatch, tmp_path):
    """The usual place of a virtual environment is inside the checkout."""
    checkout = tmp_path / "lib" / "course"
    packages = checkout / ".venv" / "lib" / "site-packages"
    for folder in (packages / "numpy", packages / "course_lib", checkout / "notebooks"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(start, "COURSE", checkout)
    monkeypatch.setattr(start, "PACKAGES", packages)
    monkeypatch.setattr(start.sysconfig, "get_path", lambda name: str(packages))
    monkeypatch.setattr(start.sys, "base_prefix", str(tmp_path))
    arguments = shown(monkeypatch, tmp_path)
    order = [
        f"--ro-bind {tmp_path}/lib {tmp_path}/lib",
        f"--tmpfs {checkout}",
        f"--ro-bind {packages} {packages}",
        f"--tmpfs {packages}/course_lib",
        f"--remount-ro {checkout}",
    ]
    places = [arguments.index(part) for part in order]
    assert places == sorted(places), arguments


def test_what_is_hidden_is_hidden_wherever_it_lies(monkeypatch, tmp_path):
    secret = tmp_path / "lib" / "submissions"
    secret.mkdir(parents=True)
    file = tmp_path / "lib" / "gradebook.db"
    file.write_text("grades")
    monkeypatch.setattr(start.sys, "base_prefix", str(tmp_path))
    arguments = shown(monkeypatch, tmp_path, secret, file, Path("/home/nobody-has-this"))
    assert f"--tmpfs {secret}" in arguments and f"--ro-bind /dev/null {file}" in arguments
    assert "/home/nobody-has-this" not in arguments
    assert "/usr/local " not in f"{arguments} " and "--ro-bind /usr /usr" not in arguments


def test_without_bubblewrap_nothing_is_graded_unless_somebody_says_so(monkeypatch):
    monkeypatch.setattr(start, "_confined", lambda: "")
    monkeypatch.delenv(SETTING, raising=False)
    with pytest.raises(NoSandbox, match="apt install bubblewrap"):
        mode()
    monkeypatch.setenv(SETTING, "none")
    assert not protected(mode())


def test_the_command_says_that_bubblewrap_is_missing(tmp_path):
    (tmp_path / "submissions").mkdir()
    words = [sys.executable, "-m", "autograder", "grade", "--submissions", "submissions"]
    path = {**os.environ, "PATH": str(tmp_path), SETTING: "", "PYTHONPATH": str(start.COURSE)}
    command = [*words, "--out", "grades", "--unit", "0"]
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.returncode == 1 and MISSING in done.stderr, done.stderr
    done = subprocess.run(
        [*command, "--no-sandbox"], cwd=tmp_path, env=path, capture_output=True, text=True
    )
    assert done.returncode == 0 and start.unprotected(start._plain()) in done.stdout, done.stderr


def test_a_plain_report_says_what_it_did_not_protect(monkeypatch, assignment, notebook):
    monkeypatch.setenv(SETTING, "none")
    report = grade(assignment, read(notebook(GOOD)))
    assert report.to_json()["unprotected"] == start.unprotected(mode())
    monkeypatch.undo()
    if protected(mode()):
        other = grade(assignment, read(notebook(GOOD)))
        assert not other.to_json()["unprotected"]
        plain, confined = (
            {**r.to_json(), "sandbox": "", "unprotected": ""} for r in (report, other)
        )
        assert json.dumps(plain) == json.dumps(confined), "the same in both modes"


def test_sets_have_the_same_order_in_every_process(assignment, notebook):
    """Grading is pure: the worker's hash seed is fixed."""
    cell = """
        @implements("u99.bytes")
        def f():
            print(f)
            raise ValueError(list({"a", "b", "c", "d", "e"}), f)
        """
    errors = {grade(assignment, read(notebook(cell))).verdicts[1].error for _ in range(3)}
    assert len(errors) == 1 and "0x" not in errors.pop()


# ── what ends ──

SLEEPER = """
import sys, time
from pathlib import Path
from autograder.grading.sandbox import Worker
worker = Worker(Path(sys.argv[1]))
print("ready", flush=True)
worker.call(sys.argv[2], (), {})
time.sleep(1000)
"""


@pytest.mark.parametrize("setting", ["", "none"])
def test_a_killed_grader_leaves_no_process_behind(setting, assignment):
    if not setting and not protected(mode()):
        pytest.skip("no bubblewrap")
    env = {**os.environ, SETTING: setting, "PYTHONPATH": str(start.COURSE)}
    words = [sys.executable, "-c", SLEEPER, str(assignment.edition), "passes.dce"]
    grader = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, start_new_session=True)
    assert grader.stdout is not None
    grader.stdout.readline()
    family = psutil.Process(grader.pid).children(recursive=True)
    assert family
    grader.send_signal(signal.SIGKILL)
    grader.wait()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive, alive
    grader.stdout.close()


def test_folders_of_killed_processes_are_swept_and_those_in_use_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sweep.cache_clear()
    mine = Folder("course-worker-")
    for name in ("course-worker-old", "other-old"):
        (tmp_path / name / "x").mkdir(parents=True)
    (tmp_path / "course-worker-link").symlink_to(tmp_path / "other-old")
    for entry in tmp_path.iterdir():
        os.utime(entry, (0, 0), follow_symlinks=False)
    (tmp_path / "course-worker-new").mkdir()
    sweep.cache_clear()
    sweep("course-worker-")
    left = {entry.name for entry in tmp_path.iterdir()}
    assert left == {Path(mine.path).name, "course-worker-new", "course-worker-link", "other-old"}
    mine.close()
    assert (tmp_path / "other-old" / "x").exists() and not Path(mine.path).exists()


def test_the_folder_of_editions_is_readable_and_gone_in_the_end():
    with editions() as folder:
        assert folder.stat().st_mode & 0o777 == 0o755, "the worker may be another user"
    assert not folder.exists()


# ── what counts ──

BUSY = "import time\nwhile True: pass"
IDLE = "import time\ntime.sleep(1000)"


@pytest.mark.parametrize("code, works", [(BUSY, True), (IDLE, False)])
def test_time_is_measured_from_outside(code, works, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(code)
    child = Child(command_line(mode(), "/script.py", [], {"/script.py": script}))
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            time.sleep(0.2)
            seconds = child.seconds()
            if (seconds > 0.5) if works else child.asleep:
                break
        assert child.asleep != works and (child.seconds() > 0.5) == works
    finally:
        child.close()


def test_a_limit_does_not_count_the_grader_or_the_machine(assignment):
    """The function that the answer calls may take long: that is the grader's time."""
    cell = '@implements("u99.until")\ndef f(step, graph): return step(graph)'
    with Worker(assignment.edition, Limits(start=300, cell=300, call=0.5)) as worker:
        worker.cell(cell, "<cell 1>")
        assert worker.call("u99.until", (lambda g: time.sleep(1.5) or g, 3), {}) == 3


def test_an_argument_that_changes_in_the_other_process_is_named(assignment):
    cell = """@implements("u99.until")
def f(step, graph):
    step(1).append(2)
    if graph: graph.pop()"""
    with Worker(assignment.edition) as worker:
        worker.cell(cell, "<cell 1>")
        assert worker.call("u99.until", (lambda g: [g], []), {}) is None
        with pytest.raises(Changed, match="`graph` is no longer what was given"):
            worker.call("u99.until", (lambda g: [g], [1]), {})


def test_a_busy_machine_changes_no_report(assignment, notebook, solved):
    """Six processes want the processors, and one answer takes six tenths of what it may."""
    slow = """
        import time
        @implements("u99.bytes")
        def f():
            begin = time.process_time()
            while time.process_time() < begin + 0.6: pass
            return 24
    """
    late = '@implements("u99.bytes")\ndef f():\n    while True: pass'
    programs = [read(data) for data in (notebook(slow), notebook(late), solved)]
    limits = Limits(start=300, cell=60, call=1.0)

    def reports() -> list[str]:
        return [json.dumps(grade(assignment, p, limits=limits).to_json()) for p in programs]

    quiet = reports()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    try:
        loaded = reports()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert loaded == quiet
    verdicts = [json.loads(text)["exercises"][1]["kind"] for text in quiet]
    assert verdicts == ["passed", "timed out", "passed"]


def test_a_submission_has_one_budget():
    budget = Budget(Limits(total=10, starts=3, received=100))
    budget.spend(9.0)
    with pytest.raises(Overrun, match="together took over 10 seconds"):
        budget.spend(2.0)
    budget = Budget(Limits(starts=2, received=100))
    budget.start()
    budget.start()
    with pytest.raises(Overrun, match="ended 2 times"):
        budget.start()
    with pytest.raises(Overrun, match="returned over"):
        budget.receive(101)


def test_a_process_that_ends_after_every_start_is_not_started_for_ever(assignment, notebook):
    """It says which answers it has, and ends before it is asked for one."""
    cell = """
        import threading, os, time
        threading.Timer(0.01, os._exit, [0]).start()
        @implements("u99.sweep")
        def f(graph): time.sleep(9)
    """
    report = grade(assignment, read(notebook(cell)), limits=Limits(start=300, starts=4))
    sweep = report.verdicts[0]
    assert sweep.kind in ("timed out", "crashed", "not attempted") and sweep.earned == 0, sweep
    assert all(v.kind != "grader" for v in report.verdicts)


def test_an_alarm_counts_processor_time():
    with alarm(0.5, "too long"):
        time.sleep(1.5)  # another process has the processor
    with pytest.raises(TimedOut, match="inner"), alarm(60, "outer"), alarm(0.2, "inner"):
        while True:
            pass
    with pytest.raises(TimedOut, match="outer"), alarm(0.3, "outer"), alarm(60, "inner"):
        while True:
            pass
    with pytest.raises(TimedOut, match="asleep"), alarm(0.05, "asleep"):
        time.sleep(60)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_rings_again_for_who_does_not_listen():
    caught = 0
    with pytest.raises(TimedOut), alarm(0.2, "again"):
        while caught < 3:
            try:
                while True:
                    pass
            except TimedOut:
                caught += 1
        while True:
            pass
    assert caught == 3


# ── onnxruntime ──


def model(nodes, weights=(), **more) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", 1, ["a"])], [value("y", 1, None)], list(weights)
    )
    ops = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=ops, ir_version=8, **more)


def run(made: onnx.ModelProto) -> list[np.ndarray]:
    return outside.run_onnx(made.SerializeToString(), {"x": np.array([1, -2], np.float32)})


def number(name: str, value) -> TensorProto:
    return numpy_helper.from_array(np.array(value), name)


def endless() -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Identity", ["v"], ["w"])],
        "body",
        [value("i", 7, []), value("c", 9, []), value("v", 1, [])],
        [value("d", 9, []), value("w", 1, [])],
    )
    loop = helper.make_node("Loop", ["n", "t", "f"], ["y"], body=body)
    return model([loop], [number("n", 2**60), number("t", True), number("f", np.float32(1))])


def test_onnxruntime_runs_in_a_process_of_its_own(monkeypatch):
    good = model([helper.make_node("Relu", ["x"], ["y"])])
    assert run(good)[0].tolist() == [1.0, 0.0]
    assert "onnxruntime" not in sys.modules or "onnxruntime" in str(sys.modules["onnxruntime"])
    large = helper.make_node("ConstantOfShape", ["n"], ["y"])
    with pytest.raises(outside.OutsideError):
        run(model([large], [number("n", [1 << 33])]))
    with pytest.raises(outside.OutsideError, match="Nonsense"):
        run(model([helper.make_node("Nonsense", ["x"], ["y"])]))
    monkeypatch.setattr(outside, "LIMIT", 1.0)
    with pytest.raises(outside.OutsideError, match="did not end"):
        run(endless())
    monkeypatch.setattr(outside, "LIMIT", 60.0)
    assert run(good)[0].tolist() == [1.0, 0.0], "another process has taken its place"
    outside.close()


def graphs_in_graphs(node: onnx.NodeProto) -> onnx.ModelProto:
    """A dozen branches, each twice in the next one."""
    inner = model([node]).graph
    for _ in range(12):
        branch = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
        inner = helper.make_graph([branch], "g", [], [])
    deep = model([node])
    deep.graph.CopyFrom(inner)
    return deep


def hostile_models() -> dict[str, onnx.ModelProto]:
    relu = helper.make_node("Relu", ["x"], ["y"])
    ops = [helper.make_opsetid("", 17)]
    function = helper.make_function("mine", "F", ["a"], ["b"], [], ops)
    pointer = number("w", [1.0])
    pointer.data_location = TensorProto.EXTERNAL
    pointer.external_data.add(key="location", value="/etc/passwd")
    hidden = number("w", [1.0])
    hidden.external_data.add(key="location", value="secret")
    short, wide, negative = number("w", [1.0]), number("w", [1.0]), number("w", [1.0])
    short.dims[:] = [1000]
    wide.dims[:] = [1 << 40, 1 << 40]
    negative.dims[:] = [-1]
    sparse = model([relu])
    sparse.graph.sparse_initializer.add().values.CopyFrom(pointer)
    trained = model([relu])
    trained.training_info.add().algorithm.CopyFrom(model([relu]).graph)
    constant = helper.make_node("Constant", [], ["y"], value=pointer)
    return {
        "functions": model([relu], functions=[function]),
        "foreign_domain": model([helper.make_node("Relu", ["x"], ["y"], domain="com.microsoft")]),
        "foreign_opset": helper.make_model(
            model([relu]).graph, opset_imports=[*ops, helper.make_opsetid("evil", 1)]
        ),
        "external": model([relu], [pointer]),
        "external_entries_alone": model([relu], [hidden]),
        "external_in_an_attribute": model([constant]),
        "external_sparse": sparse,
        "external_in_training": trained,
        "weight_shorter_than_it_says": model([relu], [short]),
        "weight_of_a_yottabyte": model([relu], [wide]),
        "weight_of_a_negative_size": model([relu], [negative]),
        "graphs_in_graphs": graphs_in_graphs(relu),
        "many_nodes": model([relu] * 30_000),
    }


@pytest.mark.parametrize("name", hostile_models())
def test_models_that_are_more_than_nodes_and_weights_do_not_cross(name):
    with pytest.raises(Unsendable):
        read_onnx_model(hostile_models()[name].SerializeToString())


def test_the_process_has_no_packages_of_the_course():
    assert str(PACKAGES / "course_lib") not in command_line(mode(), "/x", [], {})
