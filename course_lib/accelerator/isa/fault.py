"""What can be wrong with a program, said to whoever wrote it.

    out of bounds: acts holds 1,024 bytes, but bytes 1,000 to 1,063 are touched
      instruction 7: lda dram=0 acts=1000 h=1 w=1 bytes=64 step=64 line=64
      from: layer1.0.conv1
      look at: the address and the sizes of this instruction

Next room: `region.py`.
"""

from __future__ import annotations


class Fault(ValueError):
    """A program that the chip cannot run. `kind` is one of: field, out of bounds, hazard,
    deadlock, array, program."""

    def __init__(self, kind: str, what: str, look: str, *where: str) -> None:
        self.kind, self.what, self.look, self.where = kind, what, look, where
        super().__init__("\n".join([f"{kind}: {what}", *where, f"  look at: {look}"]))

    def at(self, *where: str) -> Fault:
        """The same fault, with the lines that say where in the program it is."""
        return Fault(self.kind, self.what, self.look, *where)
