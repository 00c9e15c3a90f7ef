"""Every cheat that is known to work against nbgrader's own grader, and more: what it earns here.

Each case is the code of one exercise cell. The right answer stands at the end of some of them, to
show that the trick and not the answer is what fails; all of them must leave the grader unharmed.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.edition.contents import COURSE
from autograder.grading import sandbox
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.program import read
from autograder.grading.sandbox import Worker
from autograder.process.start import mode, protected, trust_ours

HEAD = """from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
"""
SWEEP = HEAD + '@implements("u99.sweep")\ndef sweep(graph):\n    '
RIGHT = "return Graph.of(graph.inputs, graph.outputs, graph.name)\n"
PATIENT = Limits(start=300, cell=300, call=300, exercise=600, cells=600)
trust_ours()
IN_A_SANDBOX = protected(mode())

WRONG = {
    "always_equal": """class Yes:
        def __eq__(self, other): return True
        def __getattr__(self, name): return self
    return Yes()""",
    "calls_the_library": """from autograder.units.u99.exercises import sweep as ours
    return ours.__wrapped__(graph)""",
    "patches_the_checker": """from autograder.check import judging, properties
    judging.judge = lambda *a, **k: "passed"
    properties.same_meaning = lambda *a, **k: None
    return graph""",
    "patches_numpy": """import numpy
    numpy.allclose = numpy.array_equal = numpy.isclose = lambda *a, **k: True
    return graph""",
    "patches_the_codec": """import autograder.wire.reading
    autograder.wire.reading.verify = lambda graph: graph
    return Graph("x", (), (), ())""",
    "changes_its_mind": "import random\n    return graph if random.random() < 0.5 else sweep",
    "returns_nothing": "pass",
    "returns_text": "return 'graph @main() -> () {}'",
    "returns_a_function": "return lambda: graph",
    "too_large_to_exist": """x = apply("expand", const(1.0), shape=(10**6, 10**6))
    return Graph(graph.name, graph.inputs, (*graph.nodes, x.inputs[0], x), graph.outputs)""",
    "ill_typed": """from dataclasses import replace
    from course_lib.ir.types import parse_type
    wrong = replace(graph.outputs[0], type=parse_type("f32[7,7]"))
    return Graph(graph.name, graph.inputs, (*graph.nodes, wrong), (wrong,))""",
    "nested_without_end": """deep = []
    for _ in range(5000): deep = [deep]
    return deep""",
    "contains_itself": "loop = []\n    loop.append(loop)\n    return loop",
}
ELSEWHERE = ("starts_processes", "patches_the_course")  # a plain process may, in a copy of its own
CRASHED = {
    "reads_the_hidden_checks": "import autograder.units.u99.hidden as h\n    " + RIGHT,
    "finds_ipython": "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass'])",
    "exits": "import os\n    os._exit(0)",
    "exits_politely": "raise SystemExit(0)",
    "segfaults": "import ctypes\n    ctypes.string_at(0)",
    "recurses_for_ever": "return (lambda f: f(f))(lambda f: f(f))",
    "takes_all_memory": "import numpy\n    return [numpy.empty(1 << 28) for _ in range(50)]",
    "starts_processes": "import subprocess\n    subprocess.run(['true'])\n    " + RIGHT,
    "kills_its_group": "import os, signal\n    os.killpg(0, signal.SIGKILL)",
    "patches_the_course": """import course_lib
    open(course_lib.__file__, "w").write("raise SystemExit")""",
    "floods_the_pipe": """import os
    while True:
        for n in range(3, 30):
            try: os.write(n, bytes(1 << 20))
            except OSError: pass""",
    "speaks_for_the_worker": """import os, struct
    from autograder.wire.codec import Codec
    lie = Codec().encode(("return", True, ""))
    for n in range(3, 30):
        try: os.write(n, struct.pack("<BQ", 0, len(lie)) + lie + bytes(40))
        except OSError: pass
    os._exit(0)""",
}
ENDLESS = {
    "loops": "while True: pass",
    "sleeps": "import time\n    time.sleep(1000)",
    "loops_and_catches": """while True:
        try:
            while True: pass
        except BaseException: pass""",
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_wrong(name, verdict_of):
    verdict = verdict_of("u99.sweep", SWEEP + WRONG[name])
    assert (verdict.kind, verdict.earned) == ("wrong", 0), verdict


@pytest.mark.parametrize("name", [n for n in CRASHED if IN_A_SANDBOX or n not in ELSEWHERE])
def test_it_crashes_by_itself(name, grading, notebook):
    good = '@implements("u99.bytes")\ndef f(): return 24'
    report = grading(notebook(SWEEP + CRASHED[name], good))
    sweep, number = report.verdicts[:2]
    assert sweep.earned == 0 and sweep.kind in ("crashed", "wrong", "timed out"), sweep
    assert number.kind == "passed", "the next exercise is graded all the same"


@pytest.mark.parametrize("name", ENDLESS)
def test_it_is_stopped(name, verdict_of):
    verdict = verdict_of("u99.sweep", SWEEP + ENDLESS[name], hasty=True)
    assert (verdict.kind, verdict.earned) == ("timed out", 0), verdict


def test_cell_that_never_ends_costs_only_its_own_points(grading, notebook):
    good = '@implements("u99.bytes")\ndef f(): return 24'
    endless = '@implements("u99.sweep")\ndef f(g): ...\nwhile True: pass'
    report = grading(notebook(endless, good), hasty=True)
    assert [v.kind for v in report.verdicts[:2]] == ["timed out", "passed"]


def test_redefined_float_changes_no_grade(verdict_of):
    cell = """
        import builtins
        builtins.float = lambda *a: 24.0
        @implements("u99.bytes")
        def f(): return 7
    """
    assert verdict_of("u99.bytes", cell).earned == 0


@pytest.mark.parametrize(
    "value", ["float('nan')", "float('inf')", "[24, 24]", "None", "dict()", "10**400"]
)
def test_what_is_no_number_earns_nothing(value, verdict_of):
    verdict = verdict_of("u99.bytes", f'@implements("u99.bytes")\ndef f(): return {value}')
    assert (verdict.kind, verdict.earned) == ("wrong", 0)


def test_calling_the_callback_for_ever_is_stopped(assignment, notebook):
    """By their number: what crosses the pipe takes no time of its own."""
    cell = '@implements("u99.until")\ndef f(step, graph):\n    while True: step(graph)'
    report = grade(assignment, read(notebook(cell)), limits=replace(PATIENT, callbacks=1000))
    verdict = next(v for v in report.verdicts if v.exercise == "u99.until")
    assert verdict.kind == "timed out" and "1,000 times" in verdict.problem


def test_callback_with_a_forged_number_earns_nothing(verdict_of):
    cell = """
        @implements("u99.until")
        def f(step, graph):
            import gc
            from autograder.wire.codec import Codec
            for codec in [o for o in gc.get_objects() if isinstance(o, Codec)]:
                codec.call(10**9, (), {})
            return graph
    """
    assert verdict_of("u99.until", cell).earned == 0


FORGE = """
    import numpy, os, struct
    from autograder.wire.codec import Codec
    def say(*frames):
        for data in frames:
            data = data if isinstance(data, bytes) else Codec().encode(data)
            for n in range(3, 12):
                try: os.write(n, struct.pack("<BQ", 0, len(data)) + data)
                except OSError: pass
    @implements("u99.bytes")
    def f():
        say((numpy.zeros(3), 1))
        return 24
"""
FORGED = {
    "kind_that_is_no_word": "",
    "garbage_after_a_cell": "    say(b'garbage')",
    "answered_nothing": "    say(('done', None), ('answered',))",
    "answered_a_number": "    say(('done', None), ('answered', 7))",
    "never_done": "    say(('done',))",
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_messages_are_not_the_graders_fault(name, verdict_of):
    verdict = verdict_of("u99.bytes", FORGE + FORGED[name])
    assert verdict.earned == 0 and verdict.kind in ("crashed", "not attempted"), verdict


def test_callback_called_with_nonsense_is_the_answers_error(verdict_of):
    cell = '@implements("u99.until")\ndef f(step, graph):\n    return step(None)'
    verdict = verdict_of("u99.until", cell)
    assert (verdict.kind, verdict.line) == ("crashed", 3) and "AttributeError" in verdict.error


@pytest.fixture
def clock(monkeypatch):
    """A cell takes one second."""
    run = Worker.cell

    def cell(worker, *args):
        worker.budget.spend(1.0)
        return run(worker, *args)

    monkeypatch.setattr(Worker, "cell", cell)


def test_many_deadly_cells_do_not_hold_up_the_class(assignment, notebook, clock, monkeypatch):
    started = []
    monkeypatch.setattr(
        "autograder.grading.grade.Worker", lambda *args: started.append(1) or Worker(*args)
    )
    deadly = '@implements("u99.sweep")\ndef f(g): ...\nimport os; os._exit(0)  # '
    good = '@implements("u99.bytes")\ndef f(): return 24'
    program = read(notebook(good, *[f"{deadly}{n}" for n in range(99)]))
    report = grade(assignment, program, limits=replace(PATIENT, cells=20))
    assert [v.kind for v in report.verdicts[:2]] == ["timed out", "passed"]
    assert len(started) < 15


def test_cells_together_have_a_limit(assignment, notebook, clock):
    good = '@implements("u99.bytes")\ndef f(): return 24'
    late = '@implements("u99.sweep")\ndef f(g): return g'
    program = read(notebook(*[f"{good}  # {n}" for n in range(9)], late))
    sweep, number = grade(assignment, program, limits=replace(PATIENT, cells=5)).verdicts[:2]
    assert sweep.kind == "timed out" and "together took over 5 seconds" in sweep.problem
    assert number.kind == "passed", "what ran in time counts"


def test_worker_that_does_not_start_is_the_graders_fault(
    assignment, notebook, tmp_path, monkeypatch
):
    (tmp_path / "worker.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(sandbox, "WORKER", tmp_path / "worker.py")
    program = read(notebook('@implements("u99.bytes")\ndef f(): return 24'))
    number = grade(assignment, program, limits=replace(PATIENT, start=5)).verdicts[1]
    assert (number.kind, number.earned) == ("grader", None), number


def test_continuous_integration_tries_the_sandbox():
    """The tests that need it may be skipped on a teacher's machine, and nowhere else."""
    assert IN_A_SANDBOX or os.environ.get("CI") != "true"


@pytest.mark.skipif(not IN_A_SANDBOX, reason="a plain process can read the machine's files")
def test_the_sources_cannot_be_read(verdict_of, tmp_path: Path):
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_text("grades")
    for path in (COURSE / "autograder" / "grade.py", COURSE / "notebooks", gradebook):
        cell = SWEEP + f"import os\n    assert os.path.exists({str(path)!r})\n    " + RIGHT
        verdict = verdict_of("u99.sweep", cell)
        assert verdict.kind == "crashed" and "AssertionError" in verdict.error, path
    verdict_of("u99.sweep", SWEEP + f"open({str(gradebook)!r}, 'w').write('all')\n    " + RIGHT)
    assert gradebook.read_text() == "grades"


@pytest.mark.skipif(not IN_A_SANDBOX, reason="a plain process can reach the network")
def test_there_is_no_network(verdict_of):
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        port = server.getsockname()[1]

        def listen() -> None:
            try:
                calls.append(server.accept())
            except OSError:
                return

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        line = f"import socket\n    socket.create_connection(('127.0.0.1', {port}), 1)\n    "
        assert verdict_of("u99.sweep", SWEEP + line + RIGHT).kind == "crashed"
    assert not calls


@pytest.mark.skipif(not IN_A_SANDBOX, reason="bubblewrap's PID namespace ends what is left over")
def test_fork_bomb_is_contained(verdict_of):
    line = "import os\n    while True: os.fork()\n    "
    assert verdict_of("u99.sweep", SWEEP + line, hasty=True).kind in ("crashed", "timed out")
