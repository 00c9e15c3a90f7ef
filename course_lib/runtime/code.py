"""What an executable asks of machine code, wherever it is from.

    model.code.entries[0](table)      steps 0, 1 and 2 of the program, on these addresses

`llvm/jit.py` makes it; `runtime` does not know how, and imports no compiler. Next room: `call.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

Part = tuple[Callable[..., int], int]  # machine code, and the iterations of its outermost loop


class Entry(Protocol):
    """Steps of a program, one after the other, as one piece: from `first` on, `last` excluded."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def workers(self) -> int:
        """How many threads help."""
        ...

    def __call__(self, table: ctypes.Array, /) -> int | None:
        """Run them on the buffers at these addresses. The step that met an index outside its axis;
        None: no step."""
        ...


class MachineCode(Protocol):
    """The parts of each kernel by its name, the entries, and for each module its LLVM IR before the
    optimizer and after it."""

    @property
    def functions(self) -> Mapping[str, Sequence[Part]]: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def modules(self) -> Mapping[str, tuple[str, str]]: ...
    def assembly(self) -> str:
        """What the processor runs."""
        ...
