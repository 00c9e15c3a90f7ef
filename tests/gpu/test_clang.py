"""A kernel in CUDA C++, through clang: its PTX runs here with the values of numpy."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from course_lib.gpu.arguments import recorded
from course_lib.gpu.count.counters import Counters
from course_lib.gpu.count.races import Races
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import Empty, launch

SOURCE = Path(__file__).parent / "tiled.cu"
FLAGS = [
    "-x",
    "cuda",
    "--cuda-device-only",
    "-nocudainc",
    "-nocudalib",
    "--cuda-gpu-arch=sm_80",
    "-S",
]
N = 32


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_a_tiled_product(level, require_tool, tmp_path):
    clang, ptx = require_tool("clang-22"), tmp_path / "tiled.ptx"
    subprocess.run([clang, *FLAGS, level, SOURCE, "-o", ptx], check=True, capture_output=True)
    a, b = recorded(np.dtype("f4"), N * N), recorded(np.dtype("f4"), 2 * N * N)[N * N :]
    counters, races = Counters(), Races()
    entry = read(ptx.read_text()).entry("tiled")
    run = launch(entry, (N // 8, N // 8), (8, 8), [a, b, Empty(4 * N * N), np.int32(N)],
                 watches=[counters, races])  # fmt: skip
    got = run.arrays[2]
    assert got is not None and races.found == []
    want = a.reshape(N, N).astype(float) @ b.reshape(N, N)
    np.testing.assert_allclose(got.view("f4").reshape(N, N), want, rtol=1e-5)
    requests = 16 * 2 * (N // 8) * 2  # blocks, warps, tiles, arrays: whatever the level
    assert counters.total()["global_load_requests"] == requests


def test_one_instruction_may_mean_several_memories():
    text = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    .shared .align 4 .b8 t[4];
    .local .align 4 .b8 mine[4];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [t], 7;
    st.local.u32 [mine], %r1;
    mov.u64 %rd2, t; cvta.shared.u64 %rd3, %rd2;
    mov.u64 %rd4, mine; cvta.local.u64 %rd5, %rd4;
    setp.lt.u32 %p1, %r1, 2;
    selp.b64 %rd6, %rd3, %rd5, %p1;
    setp.eq.u32 %p2, %r1, 5;
    selp.b64 %rd6, %rd1, %rd6, %p2;
    ld.u32 %r2, [%rd6];
    add.u32 %r2, %r2, 100;
    st.u32 [%rd6], %r2;
    ld.u32 %r3, [%rd6];
    mul.wide.u32 %rd7, %r1, 4;
    add.s64 %rd8, %rd1, %rd7;
    st.global.u32 [%rd8+4], %r3;
    ret;
}"""
    out = np.full(9, 1000, np.int32)
    got = launch(read(text).entry(), (1,), (8,), [out]).arrays[0]
    assert got is not None
    assert got.tolist() == [1100, 107, 107, 102, 103, 104, 1100, 106, 107]
