"""A kernel is compiled once on a machine; whatever lies in the folder, the code is right."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import course_lib
from course_lib import keep
from course_lib.cost.machine import Machine
from course_lib.exercises import plugged
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.loops.nest import print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm import backend, jit
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule import schedule
from course_lib.schedule.choose import choose

TWICE = "kernel @twice(x: f32[4], out: f32[4]) { for i in 0..4 { out[i] = x[i] + x[i] } }"
THRICE = TWICE.replace("x[i] + x[i]", "3.0 * x[i]")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "kernels"


@pytest.fixture
def optimized(monkeypatch) -> list[str]:
    """The modules that LLVM had to optimize."""
    seen = []
    optimize = backend.optimize

    def watched(text, machine):
        seen.append(text)
        return optimize(text, machine)

    monkeypatch.setattr(backend, "optimize", watched)
    return seen


def run(text: str) -> list[float]:
    kernel = parse_kernel(text)
    code = jit.compile_kernels([kernel])
    ((function, iterations),) = code.functions[kernel.name]
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert function(x.ctypes.data, out.ctypes.data, 0, iterations) == 0
    return out.tolist()


def test_the_second_time_llvm_is_not_asked(folder, optimized):
    assert run(TWICE) == run(TWICE) == [0, 2, 4, 6]
    assert len(optimized) == len(list(folder.iterdir())) == 1
    assert run(THRICE) == [0, 3, 6, 9], "another kernel of the same name"
    assert len(optimized) == len(list(folder.iterdir())) == 2


def test_what_is_shown_is_the_same_both_times(folder):
    first, second = (jit.compile_kernels([parse_kernel(TWICE)]) for _ in range(2))
    assert first.modules == second.modules and "define" in second.optimized
    assert first.assembly() == second.assembly()


def test_another_processor_has_its_own(folder, optimized, runnable, monkeypatch):
    monkeypatch.delenv("COURSE_LIB_CPU", raising=False)
    for cpu in ("host", *runnable):
        jit.compile_kernels([parse_kernel(TWICE)], cpu)
    assert len(optimized) == 1 + len(runnable)


@pytest.mark.parametrize("damage", ["half of it", "another byte", "empty", "a folder"])
def test_a_damaged_file_is_made_anew(folder, optimized, damage):
    run(TWICE)
    (path,) = folder.iterdir()
    data = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    else:
        half, other = data[: len(data) // 2], data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
        path.write_bytes({"half of it": half, "another byte": other, "empty": b""}[damage])
    assert run(TWICE) == [0, 2, 4, 6]
    assert len(optimized) == 2
    assert len(list(folder.iterdir())) == 1, "nothing half written stays"


def test_a_place_that_cannot_be_used_is_no_error(tmp_path, monkeypatch, optimized):
    (tmp_path / "a_file").write_text("")
    for place in ("off", str(tmp_path / "a_file" / "below"), "/proc/kept"):
        monkeypatch.setenv("COURSE_LIB_CACHE", place)
        assert run(TWICE) == [0, 2, 4, 6]
    assert len(optimized) == 3


def test_a_folder_that_others_may_write_to_is_not_trusted(folder, optimized):
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert run(TWICE) == run(TWICE)
    assert len(optimized) == 2 and not list(folder.iterdir())


def test_the_folder_does_not_grow_for_ever(folder, monkeypatch):
    monkeypatch.setattr(keep, "LIMIT", 100)
    monkeypatch.setattr(keep, "LOOKS", 0)
    run(TWICE)
    run(THRICE)
    assert len(list(folder.iterdir())) == 2, "not every writer looks how much there is"
    older = min(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    monkeypatch.setattr(keep, "LOOKS", 16)
    run(TWICE.replace("x[i] + x[i]", "4.0 * x[i]"))
    assert len(list(folder.iterdir())) == 2 and not older.exists(), "one in three went"


def test_who_writes_much_looks_and_who_writes_little_looks_rarely():
    names = [keep._name(str(n)) for n in range(2000)]
    for size, least, most in ((1, 0, 4), (1 << 20, 100, 150), (16 << 20, 2000, 2000)):
        assert least <= sum(keep._looks(name, size) for name in names) <= most, size


def test_processes_that_write_at_the_same_time(folder):
    code = (
        f"from course_lib.ir.loops.parse import parse_kernel as p\n"
        f"from course_lib.llvm.jit import compile_kernels\ncompile_kernels([p({TWICE!r})])"
    )
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait() for process in started] == [0] * 4
    assert len(list(folder.iterdir())) == 1
    assert run(TWICE) == [0, 2, 4, 6]


def test_code_that_calls_the_c_library_finds_it_again(folder, optimized):
    text = "kernel @s(x: f64[4], out: f64[4]) { for i in 0..4 { out[i] = sin(x[i]) } }"
    x, found = np.arange(4.0), []
    for _ in range(2):
        code = jit.compile_kernels([parse_kernel(text)])
        ((function, n),) = code.functions["s"]
        out = np.zeros(4)
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, out)), 0, n)
        found.append(out)
    np.testing.assert_allclose(found, [np.sin(x)] * 2, rtol=1e-12)
    assert len(optimized) == 1


# ── what comes before LLVM is kept, too ──

GRAPH = trace(lambda x, y: relu(x @ y) @ y + 0.5, "f32[16,32]", "f32[32,32]")


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """Whose schedule was chosen, and who was emitted."""
    seen: list[str] = []

    def watch(module, name: str) -> None:
        function = getattr(module, name)

        def watched(kernel, *rest):
            seen.append(f"{name} {kernel.name}")
            return function(kernel, *rest)

        monkeypatch.setattr(module, name, watched)

    watch(schedule, "choose")
    watch(jit, "emit_module")
    return seen


def compiled() -> tuple[list[str], str, np.ndarray]:
    """The scheduled kernels, their LLVM IR, and what a call gives."""
    model = course_lib.compile(GRAPH, threads=2)
    assert isinstance(model, CompiledModel)
    x, y = (np.random.default_rng(0).random(n.type.dims, np.float32) for n in GRAPH.inputs)
    kernels = [print_kernel(s.kernel) for s in model.program.steps if s.kernel]
    emitted = "\n".join(text for text, _ in model.code.modules.values())
    return kernels, emitted, model.run([x, y])[0]


def test_the_second_time_nothing_is_chosen_and_nothing_emitted(folder, made):
    kernels, text, result = compiled()
    assert len(made) == 2 * len(kernels) == 4
    again = compiled()
    assert len(made) == 4 and again[:2] == (kernels, text)
    np.testing.assert_array_equal(again[2], result)


def test_with_an_answer_plugged_in_both_are_done_each_time(folder, made):
    compiled()
    with plugged("passes.cse", lambda graph: graph):
        compiled()
        compiled()
    assert len(made) == 12
    assert {f.name for f in folder.parent.iterdir()} == {"emitted", "kernels", "schedules"}


def test_a_schedule_is_for_one_machine_and_for_these_constants(folder, made):
    kernel = parse_kernel(
        "kernel @k(x: f32[8,4], w: f32[4,32], out: f32[8,32]) { for m in 0..8 { for n in 0..32 {"
        " local acc: f32[]  acc[] = 0.0  for k in 0..4 { acc[] += x[m, k] * w[k, n] }"
        " out[m, n] = acc[] } } }"
    )
    small, large = Machine("a", 16, 16, 1), Machine("b", 64, 32, 1)
    for machine in (small, large):
        for constants in (frozenset(), frozenset({"w"})):
            first, again = (schedule.choose_once(kernel, machine, constants) for _ in range(2))
            assert first == again == choose(kernel, machine, constants)
    assert len(made) == 4


def test_what_is_kept_depends_on_the_code_that_made_it(tmp_path, monkeypatch):
    (tmp_path / "room").mkdir()
    monkeypatch.setattr(keep, "__file__", str(tmp_path / "keep.py"))
    found = set()
    for text in ("a = 1", "a = 2", "a = 1"):
        (tmp_path / "room" / "file.py").write_text(text)
        found.add(keep.sources.__wrapped__("room"))
    assert len(found) == 2
