"""The thread pool runs every iteration once, whoever else asks, and is no burden when idle."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm
import numpy as np
import pytest

from course_lib.llvm import pool
from course_lib.llvm.codegen import target_machine

COUNTING = """
declare i64 @"course_lib.run_parallel"(ptr, ptr, i64, i64)

define i64 @count(ptr %values, i64 %lo, i64 %hi) {
start:
  %slow = load i64, ptr %values
  br label %turn
turn:
  %i = phi i64 [%lo, %start], [%next, %worked]
  %next = add i64 %i, 1
  br label %work
work:
  %k = phi i64 [0, %turn], [%k.next, %work]
  %k.next = add i64 %k, 1
  fence seq_cst
  %more.work = icmp slt i64 %k.next, %slow
  br i1 %more.work, label %work, label %worked
worked:
  %at = getelementptr i64, ptr %values, i64 %next
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %turn, label %end
end:
  %said = icmp eq i64 %hi, 13
  %result = zext i1 %said to i64
  ret i64 %result
}

define i64 @all(ptr %values, i64 %n, i64 %threads) {
  %said = call i64 @"course_lib.run_parallel"(ptr @count, ptr %values, i64 %n, i64 %threads)
  ret i64 %said
}
"""


@pytest.fixture(scope="module")
def count_all() -> Callable[[int, int, int], tuple[int, list[int]]]:
    """Count how often each iteration ran. `slow`: turns of an empty loop in each."""
    pool.start_workers(3)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(COUNTING), target_machine())
    engine.finalize_object()
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    function = signature(engine.get_function_address("all"))

    def run(iterations: int, threads: int, slow: int = 0) -> tuple[int, list[int]]:
        values = np.zeros(iterations + 2, np.int64)
        values[0] = slow
        said = function(values.ctypes.data, iterations, threads)
        assert values[-1] == 0, "iterations behind the last one"
        return said, values[1:-1].tolist()

    run.engine = engine  # type: ignore[attr-defined]
    return run


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("iterations", [1, 2, 3, 5, 13, 64, 1000])
def test_every_iteration_runs_once(count_all: Callable, iterations: int, threads: int) -> None:
    for _ in range(50):
        _, ran = count_all(iterations, threads)
        assert ran == [1] * iterations


def test_what_any_piece_says_is_heard(count_all: Callable) -> None:
    assert [count_all(13, threads)[0] for threads in (1, 2, 4)] == [1, 1, 1]
    assert [count_all(12, threads)[0] for threads in (1, 2, 4)] == [0, 0, 0]


def test_jobs_of_many_threads_do_not_mix(count_all: Callable) -> None:
    def job(number: int) -> bool:
        size = 1 + number % 37
        return count_all(size, 2 + number % 3, slow=number % 50)[1] == [1] * size

    with ThreadPoolExecutor(6) as callers:
        assert all(callers.map(job, range(3000)))


def test_a_job_after_everybody_fell_asleep(count_all: Callable) -> None:
    for _ in range(5):
        time.sleep(0.05)
        assert count_all(40, 4, slow=2000)[1] == [1] * 40


def test_workers_that_have_nothing_to_do_use_no_processor(count_all: Callable) -> None:
    count_all(40, 4)
    time.sleep(0.2)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1


def test_a_child_process_has_workers_of_its_own(count_all: Callable) -> None:
    count_all(40, 4)
    child = os.fork()
    if not child:
        alone = count_all(40, 4)[1] == [1] * 40  # nobody there yet
        pool.start_workers(2)
        helped = all(count_all(40, 3, slow=500)[1] == [1] * 40 for _ in range(20))
        os._exit(0 if alone and helped and len(pool._workers) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert count_all(40, 4)[1] == [1] * 40


SCRIPT = """
import faulthandler, os, signal, sys, threading, time
faulthandler.dump_traceback_later(240, exit=True)  # where it hangs, if it does
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
import numpy as np
from course_lib.compiler import compile
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.node import const
w = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
def net(x):
    for _ in range(8):
        x = relu(x @ const(w)) / 8.0
    return x
run = compile(trace(net, "f32[256,256]"), threads=2)
x = np.ones((256, 256), np.float32)
want = run(x)
"""


def python(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("pause", [0, 0.1])
def test_an_interpreter_ends_while_workers_look_and_while_they_sleep(pause: float) -> None:
    done = python(f"time.sleep({pause}); print('end')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_ctrl_c_stops_a_run_and_harms_nothing() -> None:
    done = python(
        """
def interrupt():
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
for turn in range(5):
    threading.Thread(target=interrupt).start()
    try:
        while True:
            run(x)
    except KeyboardInterrupt:
        assert np.array_equal(run(x), want)
print("end")
"""
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_a_model_runs_in_a_child_process_too() -> None:
    done = python(
        """
child = os.fork()
same = np.array_equal(run(x), want)
if child:
    same = same and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print(same)
else:
    os._exit(not same)
"""
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


FIRST_AT_THE_SAME_TIME = """
import threading
from concurrent.futures import ThreadPoolExecutor
from course_lib.llvm import pool

made, make = [], pool._Pool.__init__
pool._Pool.__init__ = lambda self: made.append(self) or make(self)
together = threading.Barrier(8)

def ask(number):
    together.wait()
    pool.start_workers(2)

with ThreadPoolExecutor(8) as threads:
    list(threads.map(ask, range(8)))
print(len(made), len(pool._workers), made == [pool._pool()])
"""


def test_threads_that_ask_at_the_same_time_share_one_pool() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_AT_THE_SAME_TIME], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ("1 2 True\n", "")


def test_a_system_that_allows_no_more_threads_is_told_in_words(monkeypatch) -> None:
    def refuse(self) -> None:
        raise RuntimeError("can't start new thread")

    here = len(pool._workers)
    monkeypatch.setattr("threading.Thread.start", refuse)
    words = rf"not start more than {here} threads for kernels, .*with threads={here + 1} or fewer"
    with pytest.raises(ValueError, match=words):
        pool.start_workers(here + 1)
    assert len(pool._workers) == here
