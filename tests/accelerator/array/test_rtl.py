"""The array in Verilog under Icarus Verilog: every register of every clock, values and cycles."""

import numpy as np
import pytest

from course_lib.accelerator.array.closed import cycles
from course_lib.accelerator.array.registers import registers
from course_lib.accelerator.array.rtl import REGISTERS, bench, seen
from course_lib.accelerator.systolic import SystolicArray
from course_lib.bridges import icarus as bridge
from course_lib.bridges.icarus import VerilogError, icarus

from .test_levels import KINDS, int8


@pytest.fixture(autouse=True)
def tools(request, require_tool):
    if "without" not in request.node.name:
        require_tool("iverilog")
        require_tool("vvp")


def run(a, b, array, states=False, change=("", "")):
    job = bench(a, b, array, states)
    sources = {name: text.replace(*change) if change[0] else text
               for name, text in job.sources.items()}  # fmt: skip
    return seen(icarus(sources, job.top, job.parameters, job.files), a, b, array)


SHAPES = [
    (3, 4, 5, 2, 3),
    (1, 1, 1, 1, 1),
    (1, 5, 1, 3, 2),
    (7, 1, 4, 2, 2),
    (2, 6, 9, 4, 1),
    (9, 3, 2, 1, 4),
    (5, 7, 3, 3, 3),
    (8, 8, 8, 4, 4),
    (4, 2, 6, 2, 5),
    (6, 9, 1, 4, 2),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sixty_products_equal_level_0_in_every_register(kind):
    """Ten for each kind of array: their states, results and cycles."""
    for m, k, n, rows, cols in SHAPES:
        array = SystolicArray(rows, cols, **kind)
        a, b = int8(m + 10 * k, m, k), int8(n + 10 * k, k, n)
        found = run(a, b, array, states=True)
        what = f"[{m}, {k}] x [{k}, {n}], {array}"
        np.testing.assert_array_equal(found.values, a.astype(np.int32) @ b, what)
        assert found.cycles == cycles(m, k, n, array), what
        states = list(registers(a, b, array))
        for name in REGISTERS:
            mine = np.array([getattr(state, name) for state in states])
            np.testing.assert_array_equal(found.states[name], mine, f"{name}: {what}")


def test_a_larger_array():
    a, b = int8(0, 20, 18), int8(1, 18, 17)
    array = SystolicArray(16, 16, dataflow="ws", shadow=True)
    found = run(a, b, array)
    np.testing.assert_array_equal(found.values, a.astype(np.int32) @ b)
    assert found.cycles == cycles(20, 18, 17, array)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ({}, ("(first ? 0 : stay)", "stay")),
        ({"dataflow": "ws", "shadow": True}, ("SECOND && first ? spare", "SECOND ? spare")),
        ({"dataflow": "ws"}, ("down_in + (busy", "(busy")),
    ],
)
def test_a_fault_in_a_cell_is_seen_in_the_result(kind, change):
    a, b = int8(2, 5, 6), int8(3, 6, 7)
    found = run(a, b, SystolicArray(2, 2, **kind), change=change)
    assert (found.values != a.astype(np.int32) @ b).any()


def test_verilog_that_does_not_compile_says_where():
    with pytest.raises(VerilogError, match=r"iverilog says:\nt.v:1: syntax error"):
        icarus({"t.v": "module t; wat; endmodule"}, "t", {}, {})


def test_verilog_that_never_ends_is_ended():
    with pytest.raises(VerilogError, match="vvp was not done after 1 seconds"):
        icarus({"t.v": "module t; initial forever #1; endmodule"}, "t", {}, {}, seconds=1)


def test_parameters_files_and_what_is_printed():
    text = """module t; parameter N = 1; reg [7:0] x [0:0]; integer f;
        initial begin $readmemh("in.hex", x); f = $fopen("out.txt", "w");
        $fwrite(f, "%0d", N + x[0]); $display("done"); end endmodule"""
    written = icarus({"t.v": text}, "t", {"N": 5}, {"in.hex": "10"})
    assert written == {"": "done\n", "out.txt": "21"}
    with pytest.raises(ValueError, match="without a folder"):
        icarus({"t.v": text}, "t", {}, {"../in.hex": "10"})


def test_without_iverilog_the_error_names_the_package(monkeypatch):
    monkeypatch.setattr(bridge.shutil, "which", lambda name: None)
    with pytest.raises(VerilogError, match="Debian's package iverilog"):
        icarus({}, "t", {}, {})


def test_without_int8_there_is_no_bench():
    with pytest.raises(ValueError, match="take int8, got float64"):
        bench(np.ones((2, 2)), np.ones((2, 2), np.int8), SystolicArray())
    with pytest.raises(ValueError, match="wrote no result"):
        seen({"": ""}, int8(0, 2, 2), int8(0, 2, 2), SystolicArray())
