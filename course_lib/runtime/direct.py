"""A compiled model between addresses: for callers that have memory of their own, not numpy's.

    call = direct(model)
    call([x.data_ptr()], [y.data_ptr()])      # y now holds the result

That saves what arrays cost, some microseconds in each call, and the copy of a result. Next room:
`report.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from course_lib.runtime.executable import CompiledModel


class Direct:
    """Runs the only piece of machine code that a model is."""

    def __init__(self, model: CompiledModel) -> None:
        buffers, self.model = model.buffers, model
        self.entry, self.table, self.lock = model.code.entries[0], buffers.table, model._lock
        self.inputs = [buffers.slots[value] for value in model.program.inputs]
        self.results = [buffers.slots[owner] for owner, _, _ in buffers.returned]

    def __call__(self, inputs: Iterable[int], results: Iterable[int]) -> None:
        """Run on inputs whose bytes lie row by row, and write results that begin a cache line.

        IndexError if an index in an input is outside its axis.
        """
        with self.lock:
            table = self.table
            for slot, address in zip(self.inputs, inputs, strict=True):
                table[slot] = address
            for slot, address in zip(self.results, results, strict=True):
                table[slot] = address
            outside = self.entry(table)
        if outside is not None:
            step = self.model.calls[outside].step
            raise IndexError(f"while computing {step.node!r}: an index is outside its axis")


def direct(model: object) -> Direct | None:
    """None where arrays are needed: a step runs with numpy, or a result is a constant, an input, or
    given twice."""
    if not isinstance(model, CompiledModel) or not model.calls:
        return None
    whole = [(entry.first, entry.last) for entry in model.code.entries] == [(0, len(model.calls))]
    given_away = all(given for _, _, given in model.buffers.returned)
    return Direct(model) if whole and given_away else None
