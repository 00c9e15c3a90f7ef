"""NVIDIA's assembler takes what we read, and what we write, for three generations of cards."""

from pathlib import Path

import pytest

import course_lib.gpu
from course_lib.bridges.ptxas import PtxasError, installed, ptxas
from course_lib.gpu.ptx.read import read
from course_lib.llvm.processors import assembly
from course_lib.lower.lower import lower
from course_lib.models.traced import traced
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose

RECORDED = Path(course_lib.gpu.__file__).parent / "recorded"
LEAST = 16  # registers: a profiler reports no fewer


@pytest.fixture(autouse=True)
def needs_ptxas(missing):
    if not installed():
        missing("ptxas (package nvidia-cuda-nvcc)")


def test_registers_and_shared_memory_are_those_that_were_recorded():
    rows = [line.split(",") for line in (RECORDED / "counters.csv").read_text().splitlines()]
    column = rows[0].index("registers_per_thread")
    for row in rows[1:]:
        text = (RECORDED / f"{row[0]}.ptx").read_text()
        (kernel,) = ptxas(text, "sm_90").values()
        assert max(kernel.registers, LEAST) == int(row[column]), row[0]
        declared = sum(v.nbytes or 0 for v in read(text).entry().variables)
        assert (kernel.spilled, kernel.shared) == (0, declared), row[0]


@pytest.mark.parametrize("processor", ["sm_80", "sm_90"])
def test_our_own_ptx_is_ptx(processor):
    plain = [step for step in DEFAULT if step not in (layout, sink_relayouts)]
    program = lower(everywhere(run_passes(traced("mlp", [(1, 784)]), plain), decompose))
    for step in program.steps:
        assert step.kernel is not None
        kernels = ptxas(assembly(step.kernel, "nvptx"), processor)
        assert step.kernel.name in kernels
        assert all(k.registers <= 64 and not k.spilled for k in kernels.values())


def test_what_is_no_ptx_is_refused_in_its_words():
    with pytest.raises(PtxasError, match="line 4; error"):
        ptxas(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { what; }")
