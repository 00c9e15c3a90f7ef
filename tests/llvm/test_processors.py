"""The same numbers on every processor, bit for bit: wide vectors, f16 instructions or none.

Each level of x86-64 that this machine can run is compared with the machine itself.
"""

import numpy as np
import pytest

from course_lib.compiler import compile
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.scalar import SCALARS, convert
from course_lib.ir.types import DTYPES, DType, type_of
from course_lib.llvm.host import LEVELS, host_machine
from course_lib.llvm.jit import compile_kernels

RNG = np.random.default_rng(11)


def numbers(dtype: DType) -> np.ndarray:
    """Any bits, small numbers, and those at which rounding and ranges go wrong."""
    if dtype.kind == "bool":
        return RNG.integers(0, 2, 188).astype(bool)
    bits = RNG.integers(0, 256, 100 * dtype.size).astype(np.uint8).view(dtype.numpy)
    if dtype.is_float:
        odd = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 65519.0, -32768.0]
        small = RNG.uniform(-4, 4, 80)
    else:
        top = int(np.iinfo(dtype.numpy).max)
        odd = [0, 1, top, top // 2, top // 2 + 1, top - top // 2**9, top - 1, 65519 % top]
        small = RNG.integers(0, 4, 80)
    with np.errstate(over="ignore"):
        return np.concatenate([bits, small.astype(dtype.numpy), np.array(odd, dtype.numpy)])


def same_bits(got: np.ndarray, want: np.ndarray, what: str) -> None:
    """Equal, -0.0 and 0.0 told apart; one NaN is as good as another."""
    np.testing.assert_array_equal(got, want, what)
    if want.dtype.kind == "f":
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]), what)


@pytest.mark.parametrize("kind", [name for name, dtype in DTYPES.items() if dtype.is_float])
def test_a_scalar_function_gives_the_same_bits_on_every_processor(
    kind: str, runnable: list[str]
) -> None:
    dtype = DTYPES[kind]
    x, y = numbers(dtype), RNG.permutation(numbers(dtype))
    nodes = [inp("x", type_of(x)), inp("y", type_of(y))]
    rows = [row for row in SCALARS.values() if dtype.kind in row.accepts]
    outputs = [apply(row.name, *nodes[: row.arity]) for row in rows]
    graph = Graph.of(nodes, outputs, "scalars")
    host = compile(graph, passes=[])(x, y)
    for cpu in runnable:
        other = compile(graph, passes=[], cpu=cpu)(x, y)
        for node, want, got in zip(graph.outputs, host, other, strict=True):
            same_bits(got, want, f"{cpu}: {node!r}")


@pytest.mark.parametrize("old", DTYPES)
def test_a_cast_is_the_one_of_the_definition(old: str, cpu: str) -> None:
    x = numbers(DTYPES[old])
    node = inp("x", type_of(x))
    graph = Graph.of([node], [apply("cast", node, dtype=new) for new in DTYPES], "casts")
    for new, got in zip(DTYPES.values(), compile(graph, passes=[], cpu=cpu)(x), strict=True):
        with np.errstate(all="ignore"):
            want = convert(x, new)
        np.testing.assert_array_equal(got, want, f"{old} -> {new}")


def test_f16_in_a_kernel_rounds_after_each_step(cpu: str) -> None:
    """A fused multiply-add of f16 would round once: some processors have one, most do not."""
    x, y, z, out = (RNG.uniform(-2, 2, 5000).astype(np.float16) for _ in range(4))
    params = ", ".join(f"{name}: f16[5000]" for name in ("x", "y", "z", "out"))
    kernel = parse_kernel(
        f"kernel @k({params}) {{ for i in 0..5000 {{ out[i] = x[i] * y[i] + z[i] }} }}"
    )
    code = compile_kernels([kernel], cpu)
    ((function, iterations),) = code.functions["k"]
    assert function(*(a.ctypes.data for a in (x, y, z, out)), 0, iterations) == 0
    np.testing.assert_array_equal(out, x * y + z)


def test_f16_in_a_model_rounds_once(cpu: str) -> None:
    """The product of two f16 is exact in f32, so that a multiply-add may be one step or two."""
    x, y, z = (RNG.uniform(-2, 2, 5000).astype(np.float16) for _ in range(3))
    run = compile(trace(lambda x, y, z: x * y + z, *["f16[5000]"] * 3), cpu=cpu)
    assert len(run.kernels) == 1
    wide = [a.astype(np.float32) for a in (x, y, z)]
    np.testing.assert_array_equal(run(x, y, z), (wide[0] * wide[1] + wide[2]).astype(np.float16))


def test_a_level_has_the_vectors_of_its_instructions(cpu: str) -> None:
    machine = host_machine(2, cpu)
    size = (machine.vector_bytes, machine.registers)
    expected = {"x86-64-v3": (32, 16), "x86-64-v4": (64, 32)}
    assert size == expected.get(cpu, size) and machine.threads == 2
    if cpu in LEVELS:
        assert machine.name == cpu


def test_code_for_a_level_has_none_of_the_instructions_above_it(runnable: list[str]) -> None:
    if "x86-64-v3" not in runnable:
        pytest.skip("this machine lacks x86-64-v3")
    run = compile(trace(lambda x: x * x, "f32[4096]"), cpu="x86-64-v3")
    assert "ymm" in run.code.assembly() and "zmm" not in run.code.assembly()  # type: ignore[attr-defined]


def test_the_environment_says_for_which_level(
    runnable: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_LIB_CPU", "z80")
    with pytest.raises(ValueError, match=r"cpu must be one of host, .*, got 'z80'"):
        host_machine()
    if "x86-64-v3" not in runnable:
        pytest.skip("this machine lacks x86-64-v3")
    monkeypatch.setenv("COURSE_LIB_CPU", "x86-64-v3")
    assert host_machine(2) == host_machine(2, "x86-64-v3")
    run = compile(trace(lambda x: x * x, "f32[4096]"))
    assert "ymm" in run.code.assembly() and "zmm" not in run.code.assembly()  # type: ignore[attr-defined]


def test_a_processor_that_this_one_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ValueError, match="cpu must be one of host, x86-64-v3, x86-64-v4, got 'z80'"
    ):
        host_machine(cpu="z80")
    features = {"sse2": True, "avx": True, "avx2": False}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    with pytest.raises(ValueError, match=r"cannot run x86-64-v3: it lacks avx2, bmi,"):
        host_machine(cpu="x86-64-v3")


@pytest.mark.parametrize(
    ("triple", "features", "size"),
    [
        ("x86_64-unknown-linux-gnu", {"sse2": True}, (16, 16)),
        ("x86_64-unknown-linux-gnu", {"sse2": True, "avx": True, "avx2": False}, (32, 16)),
        ("x86_64-pc-windows-msvc", {"sse2": True, "avx2": True, "avx512f": True}, (64, 32)),
        ("aarch64-unknown-linux-gnu", {"neon": True, "sve": True}, (16, 32)),
        ("arm64-apple-darwin23.1.0", {}, (16, 32)),
    ],
)
def test_the_vectors_of_other_machines(
    monkeypatch: pytest.MonkeyPatch, triple: str, features: dict, size: tuple
) -> None:
    monkeypatch.delenv("COURSE_LIB_CPU", raising=False)
    monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: triple)
    host = type("Features", (dict,), {"flatten": lambda self: ""})(features)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: host)
    machine = host_machine()
    assert (machine.vector_bytes, machine.registers) == size
