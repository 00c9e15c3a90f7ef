"""Whoever looks on while a kernel runs: counters, a finder of races, a stepper.

Every method does nothing here. Next room: `../count/counters.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.gpu.simt.frame import Array, Frame

if TYPE_CHECKING:
    from course_lib.gpu.simt.kernel import Kernel
    from course_lib.gpu.simt.memory import Memory
    from course_lib.gpu.simt.wave import Shape, Wave


class Watch:
    """Is told of what happens, in the order in which it does."""

    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        """A launch begins."""

    def piece(self, frame: Frame, number: int) -> None:
        """These warps do this piece."""

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        """An instruction loads ("load"), stores ("store") or does both at once ("atomic").

        address  as the program has it; place is the same as a position in the memory's bytes
        lanes    those that take part; None means all
        """

    def barrier(self, wave: Wave) -> None:
        """Every barrier at which warps waited is complete."""

    def warp_barrier(self, frame: Frame) -> None:
        """The lanes of these warps have waited for each other."""

    def parted(self, wave: Wave, warps: Array) -> None:
        """The lanes of these warps go two ways."""
