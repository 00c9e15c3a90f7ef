"""The machine language: a class for each instruction, encoding and meaning.

    engine    instructions
    load      ldw lda ldb                    DRAM -> SRAM
    execute   preload matmul matmul_os       the array
    store     act vadd vmax st stacc         accumulators -> activations -> DRAM
    fetch     halt

An image is [h, w, channels] int8 (NHWC) everywhere. An address generator walks over pixels: `h`
rows of `w` pixels, `step` bytes from a pixel to the next, `line` bytes from a row to the next. A
convolution is therefore a matrix product that nobody has to spell out (implicit im2col): for each
row of the window, `matmul` reads at every pixel the kw * channels bytes that lie side by side.

Wide words spare the state that Gemmini keeps in CONFIG instructions: every instruction says all
about itself. There is no LOOP; a compiler writes tiles out. Next room: `text.py`.
"""

from __future__ import annotations

from course_lib.accelerator.isa.execute import Matmul, MatmulOs, Preload
from course_lib.accelerator.isa.instruction import FETCH, Instruction, row
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.store import Act, St, Stacc, Vadd, Vmax


@row(FETCH)
class Halt(Instruction):
    """The end: the chip stops when all engines are done. The last instruction of a program."""


ROWS: tuple[type[Instruction], ...] = (
    Ldw, Lda, Ldb, Preload, Matmul, MatmulOs, Act, Vadd, Vmax, St, Stacc, Halt,
)  # fmt: skip
INSTRUCTIONS = {cls.name: cls for cls in ROWS}
