"""Measuring: times come from another process, and a kernel that ends it is only dropped.

No test asks how long anything took, only that there is a time, or a reason.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("llvmlite")

from course_lib.cost.machine import Machine
from course_lib.ir.loops.nest import print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.host import host_machine
from course_lib.schedule.choose import choose
from course_lib.schedule.search.beam import beam
from course_lib.schedule.search.problem import Budget, Problem, Timing
from course_lib.tune.farm import Farm
from course_lib.tune.measure import Ask, Measuring, dealt, gathered

MACHINE = replace(host_machine(), threads=2)
QUICK = Ask(seconds=0.002, rounds=3)
GOOD = parse_kernel("""kernel @good(x: f32[64,8], w: f32[8,32], out: f32[64,32]) {
  for m in 0..64 { for n in 0..32 {
    local acc: f32[]
    acc[] = 0.0
    for k in 0..8 { acc[] += x[m, k] * w[k, n] }
    out[m, n] = acc[] } } }""")
# Each local is allowed, all of them together are more than a stack holds.
DEEP = parse_kernel(f"""kernel @deep(x: f32[4], out: f32[4]) {{
  {" ".join(f"local t{k}: f32[262144]" for k in range(64))}
  {" ".join(f"for i{k} in 0..262144 {{ t{k}[i{k}] = x[0] }}" for k in range(64))}
  for j in 0..4 {{ out[j] = {" + ".join(f"t{k}[7*j]" for k in range(64))} }} }}""")
ENDLESS = parse_kernel("""kernel @endless(x: f32[4], out: f32[4]) {
  for i in 0..1000000000000 { out[0] = out[0] * x[1] + x[2] } }""")
HUGE = parse_kernel("""kernel @huge(x: f32[1000000,1000000], out: f32[4]) {
  for i in 0..4 { out[i] = x[i, 0] } }""")


@pytest.fixture(scope="module")
def measure():
    with Measuring(QUICK) as measuring:
        yield measuring


def test_kernels_get_a_time_each_in_one_process(measure):
    scheduled = choose(GOOD, MACHINE, frozenset({"w"}))
    assert scheduled.packed  # operands come as the kernel wants them
    ask = replace(QUICK, constants=("w",), apart=1 << 14)  # several copies of the weights
    for timing in measure([GOOD, scheduled, GOOD], MACHINE, ask):
        assert timing.seconds == min(timing.rounds) > 0 and not timing.why
        assert len(timing.rounds) == 3
    process = measure.workers[0].process
    measure([GOOD], MACHINE)
    assert measure.workers[0].process is process


def test_a_crash_is_a_reason_and_the_others_are_measured(measure):
    before, crashed, after = measure([GOOD, DEEP, GOOD], MACHINE)
    assert crashed == Timing(None, "crashed: SIGSEGV")
    assert before.seconds and after.seconds


def test_a_kernel_that_hangs_is_dropped(measure):
    ask = replace(QUICK, limit=2.0)
    hung, good = measure([ENDLESS, GOOD], MACHINE, ask)
    assert hung.seconds is None and hung.why.startswith("hangs")
    assert good.seconds


def test_a_kernel_that_needs_too_much_memory_is_dropped(measure):
    huge, good = measure([HUGE, GOOD], MACHINE)
    assert huge.seconds is None and huge.why.startswith("failed: ")
    assert good.seconds


def test_a_process_that_somebody_ends_is_started_anew(measure):
    measure([GOOD], MACHINE)
    os.kill(measure.workers[0].process.pid, signal.SIGKILL)
    (timing,) = measure([GOOD], MACHINE)
    assert timing.why is not None and "was killed (SIGKILL)" in timing.why
    (timing,) = measure([GOOD], MACHINE)
    assert timing.seconds


def test_several_processes_share_the_kernels_out():
    with Measuring(QUICK, jobs=2) as measure:
        timings = measure([GOOD, GOOD, GOOD], MACHINE)
        assert all(worker.process for worker in measure.workers)
    assert all(timing.seconds for timing in timings)
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        Measuring(jobs=0)


def test_parts_are_put_together_in_order_and_on_one_scale():
    assert dealt(["a", "b", "c", "d"], 2) == [["a", "b", "d"], ["a", "c"]]
    assert dealt(["a"], 4) == [["a"]]
    parts = [[Timing.of([1.0]), Timing.of([2.0]), Timing.of([4.0])],
             [Timing.of([2.0]), Timing.of([6.0])]]  # fmt: skip
    assert [t.seconds for t in gathered(parts)] == [1.0, 2.0, 3.0, 4.0]
    assert gathered([[Timing.of([1.0])], []][:1])[0].seconds == 1.0


def test_after_closing_no_process_is_left():
    with Measuring(QUICK) as measure:
        measure([GOOD], MACHINE)
        pid = getattr(measure.workers[0].process, "pid", 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_search_measures(measure):
    problem = Problem(GOOD, MACHINE, frozenset({"w"}))
    record = beam(problem, Budget(priced=12, measured=6), None, measure, width=2, depth=1)
    first, best = record.default.measured, record.best.measured
    assert first and best and best <= first
    assert 1 < record.measured <= 6


def test_the_child_speaks_plain_lines():
    request = {"kernels": [print_kernel(GOOD)], "threads": 1, "constants": [], "seconds": 0.001,
               "rounds": 2, "apart": 0, "memory": 1 << 36, "limit": 60}  # fmt: skip
    code = "from course_lib.tune import child; child.main()"
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(request), text=True,
                          capture_output=True, check=True)  # fmt: skip
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said[0] == {"ready": True} and said[1] == {"at": 0}
    assert len(said[-1]["timings"][0]) == 2


def test_a_farm_measures_on_dask():
    pytest.importorskip("distributed")
    with Farm("", MACHINE, QUICK, jobs=1) as measure:
        assert all(timing.seconds for timing in measure([GOOD, GOOD], MACHINE))
        measure.machine = Machine("another")
        with pytest.raises(ValueError, match="another processor"):
            measure([GOOD], MACHINE)
