"""Matrix products in blocks as machine code: right for sizes that no block divides, on each level.

The caches are made up so small that every level of blocks and every rest is there.
"""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.ir.graph.build import inp, matmul
from course_lib.ir.loops.walk import loops
from course_lib.llvm.host import LEVELS, _caches, _host_features, host_machine
from course_lib.llvm.jit import compile_kernels
from course_lib.lower.lower import lower_node
from course_lib.schedule.choose import choose

CPUS = ["host", *(cpu for cpu, needs in LEVELS.items() if needs <= _host_features())]


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize(
    "sizes", [(64, 128, 64), (61, 127, 67), (100, 79, 129), (15, 300, 40), (40, 70, 1024)]
)
def test_a_product_in_blocks(sizes: tuple[int, int, int], cpu: str) -> None:
    m, n, k = sizes
    machine = replace(host_machine(1, cpu), cache1=4096, cache2=32768)
    kernel = lower_node(matmul(inp("x", f"f32[{m},{k}]"), inp("w", f"f32[{k},{n}]")), "product")
    assert kernel is not None
    scheduled = choose(kernel, machine)
    assert "x1_tile" in scheduled.buffers
    assert any(loop.kind == "vector" for loop in loops(scheduled.body))
    random = np.random.default_rng(0)
    x = random.standard_normal((m, k), dtype=np.float32)
    w = random.standard_normal((k, n), dtype=np.float32)
    out = np.full((m, n), np.nan, np.float32)
    code = compile_kernels([scheduled], cpu)
    for part, iterations in code.functions["product"]:
        assert part(x.ctypes.data, w.ctypes.data, out.ctypes.data, 0, iterations) == 0
    np.testing.assert_allclose(out, x @ w, rtol=1e-4, atol=1e-4)


def test_the_sizes_of_the_caches_are_read_where_the_system_says_them(tmp_path) -> None:
    one = [("1", "Data", "48K"), ("1", "Instruction", "32K")]
    more = [("2", "Unified", "2048K"), ("3", "Unified", "32768K")]
    for number, texts in enumerate([*one, *more]):
        (tmp_path / f"index{number}").mkdir()
        for name, text in zip(("level", "type", "size"), texts, strict=True):
            (tmp_path / f"index{number}" / name).write_text(text + "\n")
    (tmp_path / "index4").mkdir()  # says nothing
    assert _caches(tmp_path) == {"cache1": 48 << 10, "cache2": 2 << 20}
    assert _caches(tmp_path / "nowhere") == {}
