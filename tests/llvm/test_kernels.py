"""Kernels as machine code: any width, stride, nesting and size does what the loop interpreter does.

All kernels of this file are compiled in one module. Around each output lie guard bytes, so that a
store beyond it shows.
"""

import re
from typing import Any

import numpy as np
import pytest

from course_lib.compiler import compile
from course_lib.cost.machine import Machine
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.loops.loop_interp import run_kernel, unwritten
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.host import host_machine
from course_lib.llvm.jit import compile_kernels, emit_module

BODIES: dict[str, tuple[str, str]] = {
    "scalar": ("x: f32[], out: f32[]", "out[] = x[] * 2.0"),
    "nothing": ("x: f32[0,3], out: f32[0,3]",
                "for i in 0..0 { for j in 0..3 { out[i, j] = x[i, j] } }"),
    "six_axes": ("x: f32[2,1,3,2,1,2], out: f32[2,3,2,2]",
                 "for a in 0..2 { for b in 0..3 { for c in 0..2 { for d in 0..2 { "
                 "out[a, b, c, d] = x[a, 0, b, c, 0, d] + 1.0 } } } }"),
    "reversed": ("x: f32[13], out: f32[13]", "vector i in 0..13 { out[i] = x[12 - i] }"),
    "late_start": ("x: f32[20], out: f32[20]",
                   "for i in 0..5 { out[i] = 0.0 } vector j in 5..18 { out[j] = x[j] } "
                   "parallel k in 18..20 { out[k] = x[k] * 3.0 }"),
    "scatter_store": ("x: f32[7], out: f32[7,4]",
                      "for j in 0..4 { vector i in 0..7 { out[i, j] = x[i] } }"),
    "broadcast": ("x: f32[3], y: f32[], out: f32[3,9]",
                  "for j in 0..3 { vector i in 0..9 { out[j, i] = x[j] * y[] } }"),
    "two_stores": ("x: f32[8], out: f32[8,2]",
                   "vector i in 0..8 { out[i, 0] = x[i] out[i, 1] = -1.0 * x[i] }"),
    "ramp": ("out: i64[11]", "vector i in 0..11 { out[i] = index(3*i - 4) }"),
    "mask": ("x: f32[9], out: bool[9]",
             "vector i in 0..9 { out[i] = and(lt(x[i], 2.0), not(isnan(x[i]))) }"),
    "bools": ("x: bool[9], out: f32[9]", "vector i in 0..9 { out[i] = select(x[i], 1.0, 0.5) }"),
    "bool_cast": ("x: bool[9], out: i32[9]", "vector i in 0..9 { out[i] = cast(x[i], i32) }"),
    "halves": ("x: f16[10], out: f16[10]", "vector i in 0..10 { out[i] = exp(x[i]) + 1.0:f16 }"),
    "doubles": ("x: f64[10], out: f64[10]", "vector i in 0..10 { out[i] = tanh(x[i]) }"),
    "library": ("x: f32[5], out: f32[5]", "vector i in 0..5 { out[i] = asinh(x[i]) }"),
    "pick": ("x: f32[6], p: i64[4], out: f32[4]", "for i in 0..4 { out[i] = x[abs(p[i])] }"),
    "triangle": ("x: f32[6,6], out: f32[6]",
                 "for i in 0..6 { out[i] = 0.0 for j in 0..i { out[i] = out[i] + x[i, j] } }"),
    "locals": ("x: f32[4,6], out: f32[6]",
               "parallel i in 0..6 { local acc: f32[3] unroll u in 0..3 { acc[u] = 0.0 } "
               "for k in 0..4 { unroll v in 0..3 { acc[v] += x[k, i] } } "
               "out[i] = acc[0] + acc[1] + acc[2] }"),
    "tile": ("x: f32[5,7], w: f32[7,16], out: f32[5,16]",
             "parallel m in 0..5 { local acc: f32[16] vector n in 0..16 { acc[n] = 0.0 } "
             "for k in 0..7 { vector p in 0..16 { acc[p] += x[m, k] * w[k, p] } } "
             "vector q in 0..16 { out[m, q] = max(acc[q], 0.0) } }"),
    "lanes_that_sum": ("x: f32[13,7], out: f32[13]",
                       "vector i in 0..13 { local acc: f32[] acc[] = 0.0 "
                       "for k in 0..7 { acc[] += x[i, k] } out[i] = acc[] * 2.0 }"),
    "lanes_that_keep_rows": ("x: f32[4,20], out: f32[20,4]",
                             "vector i in 2..18 { local t: f32[2,4] unroll u in 0..2 { "
                             "for k in 0..4 { t[u, k] = x[k, i + u] } } for j in 0..4 { "
                             "for k_2 in 0..j + 1 { out[i, j] = t[0, k_2] + t[1, j] } } } "
                             "for i_2 in 0..2 { for l in 0..4 { out[i_2, l] = 0.0 "
                             "out[i_2 + 18, l] = 0.0 } }"),
    "lanes_in_lanes": ("x: f32[3,5], out: f32[5,3]",
                       "vector i in 0..3 { local t: f32[] t[] = x[i, 0] "
                       "vector j in 0..5 { out[j, i] = x[i, j] - t[] } }"),
    "ragged_lanes": ("x: f32[6,6], out: f32[6]",
                     "vector i in 0..6 { out[i] = 0.0 "
                     "for j in 0..i { out[i] = out[i] + x[i, j] } }"),
    "lanes_that_pick": ("x: f32[6], p: i64[4], out: f32[4]",
                        "vector i in 0..4 { local t: f32[] t[] = x[abs(p[i])] out[i] = t[] }"),
    "prefetched": ("x: f32[9,16], w: f32[4,16,8], out: f32[4,9,8]) prefetch(w, o, i",
                   "parallel o in 0..4 { for r in 0..9 { local acc: f32[8] "
                   "vector l in 0..8 { acc[l] = 0.0 } for i in 0..16 { vector l_2 in 0..8 { "
                   "acc[l_2] += x[r, i] * w[o, i, l_2] } } "
                   "vector l_3 in 0..8 { out[o, r, l_3] = acc[l_3] } } }"),
    "sum_without_parallel": ("x: f32[100], out: f32[]",
                             "local acc: f32[] acc[] = 0.0 "
                             "for i in 0..100 { acc[] += x[i] } out[] = acc[]"),
    "largest": ("x: f32[100], out: f32[]",
                "local acc: f32[] acc[] = -inf "
                "for i in 0..100 { acc[] max= x[i] } out[] = acc[]"),
}  # fmt: skip
WIDTHS = (1, 2, 3, 5, 8, 17, 33)


def strided(width: int, stride: int) -> Kernel:
    """Every `stride`-th element of exactly as many as it takes: one more would be outside."""
    size = (width - 1) * stride + 1
    return parse_kernel(
        f"kernel @w{width}_s{stride}(x: f32[{size}], out: f32[{width}]) {{"
        f" vector i in 0..{width} {{ out[i] = x[{stride}*i] + 1.0 }} }}"
    )


KERNELS = [parse_kernel(f"kernel @{n}({p}) {{ {body} }}") for n, (p, body) in BODIES.items()]
KERNELS += [strided(width, stride) for width in WIDTHS for stride in (1, 2, 3, 4, 5)]


@pytest.fixture(scope="module")
def code(cpu: str) -> Any:
    return compile_kernels(KERNELS, cpu=cpu)


def numbers(kernel: Kernel) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    arrays = {}
    for b in kernel.params:
        kind = b.type.dtype.numpy
        values = rng.integers(-5, 6, b.type.dims)
        arrays[b.name] = (values % 2 == 0 if b.type.dtype.kind == "bool" else values).astype(kind)
    arrays[kernel.out.name] = unwritten(kernel.out.type)
    return arrays


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_machine_code_does_what_the_loops_say(code: Any, kernel: Kernel) -> None:
    arrays = numbers(kernel)
    want = {name: array.copy() for name, array in arrays.items()}
    run_kernel(kernel, want)
    out, guard = kernel.out, 64
    memory = np.full(out.type.nbytes + 2 * guard, 0x5A, np.uint8)
    result = memory[guard : guard + out.type.nbytes].view(out.type.dtype.numpy)
    result[...] = arrays[out.name].ravel()
    pointers = [arrays[b.name].ctypes.data for b in kernel.params[:-1]]
    for function, iterations in code.functions[kernel.name]:
        middle = iterations // 2  # as two threads would
        assert function(*pointers, memory.ctypes.data + guard, 0, middle) == 0
        assert function(*pointers, memory.ctypes.data + guard, middle, iterations) == 0
    np.testing.assert_allclose(result.reshape(out.type.dims), want[out.name], rtol=2e-6)
    assert np.all(memory[:guard] == 0x5A) and np.all(memory[-guard:] == 0x5A), "outside the output"


def test_vectors_where_the_schedule_says_so(code: Any) -> None:
    assert "<16 x float>" in code.llvm_ir and "shufflevector" in code.llvm_ir
    assert 'define i64 @"tile"(' in code.llvm_ir
    assert "tile" in code.assembly()


VECTORS = {  # of the kernels in which a vector loop holds more than statements that write
    "lanes_that_sum": "<13 x float>",
    "lanes_that_keep_rows": "<16 x float>",
    "lanes_in_lanes": "<5 x float>",
    "ragged_lanes": "",
    "lanes_that_pick": "",
}


@pytest.mark.parametrize("name", VECTORS)
def test_loops_and_locals_in_a_vector_loop_run_for_all_lanes_at_once(name: str) -> None:
    text, _ = emit_module(next(kernel for kernel in KERNELS if kernel.name == name))
    assert {*re.findall(r"<\d+ x float>", text)} == {VECTORS[name]} - {""}
    scalar = re.search(r"= f(add|sub|mul)( \w+)* float ", text)
    assert not (VECTORS[name] and scalar)


def pick(code: Any, indices: list[int]) -> tuple[int, list[float]]:
    """The kernel `pick` on x = 10 .. 15: what it returns, and what it writes."""
    x, p, out = np.arange(10, 16, dtype=np.float32), np.array(indices), np.zeros(4, np.float32)
    ((function, iterations),) = code.functions["pick"]
    return function(x.ctypes.data, p.ctypes.data, out.ctypes.data, 0, iterations), out.tolist()


def test_a_kernel_says_that_an_index_was_outside(code: Any) -> None:
    assert pick(code, [0, 5, -5, 1]) == (0, [10, 15, 15, 11])
    for wild in (6, -7, 2**62, -(2**62), 2**63 - 1):
        said, out = pick(code, [5, 1, wild, 5])
        assert said == 1 and out == [15, 11, 10, 15]


def test_only_kernels_with_an_index_from_the_data_test_it(code: Any) -> None:
    functions = code.llvm_ir.split("define ")
    tests = [text.split("(")[0] for text in functions if "icmp uge i64" in text]
    assert tests == ['i64 @"pick"', 'i64 @"lanes_that_pick"']


@pytest.mark.parametrize("shapes", [((0, 4), (4, 3)), ((4, 0), (0, 3)), ((4, 3), (3, 0))])
def test_products_of_nothing(shapes: tuple) -> None:
    a, b = (np.ones(s, np.float32) for s in shapes)
    nodes = [inp("a", f"f32[{shapes[0][0]},{shapes[0][1]}]"), const(b)]
    compiled = compile(Graph.of(nodes[:1], [apply("relu", apply("matmul", *nodes))]), passes=[])
    np.testing.assert_array_equal(compiled(a), a @ b)


def test_one_module_for_two_compilations_is_not_shared() -> None:
    first = compile_kernels([strided(4, 1)])
    second = compile_kernels([strided(4, 1)])
    assert first.functions["w4_s1"][0][0] is not second.functions["w4_s1"][0][0]


def test_a_local_that_is_too_large_for_the_stack_is_refused() -> None:
    kernel = parse_kernel("kernel @big(out: f32[]) { local t: f32[9999999] out[] = t[0] }")
    with pytest.raises(ValueError, match="the local t takes 39,999,996 bytes of the stack; split"):
        compile_kernels([kernel])


def test_the_machine_at_hand() -> None:
    machine = host_machine()
    assert isinstance(machine, Machine) and machine.name
    assert machine.vector_bytes in (16, 32, 64) and machine.registers in (16, 32)
    assert machine.threads >= 1 and host_machine(3).threads == 3
    with pytest.raises(ValueError, match="at least 1, got -1"):
        host_machine(-1)
