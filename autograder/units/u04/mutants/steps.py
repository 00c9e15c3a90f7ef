"""Answers to unit 4 for one step: may_overwrite. Next room: layout.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Loop, Store, Write
from course_lib.ir.loops.walk import accesses, statements

SLOT = "schedule.in_place.may_overwrite"


def _same_type(kernel, operand):
    return kernel.buffers[operand].type == kernel.out.type


def _read(kernel, operand):
    """The indices at which the operand is read."""
    return {at for way, name, at in accesses(kernel.body) if way == "read" and name == operand}


def _written(kernel):
    """The indices at which the result is written."""
    return {at for way, name, at in accesses(kernel.body) if way == "write" and name == "out"}


def _stores(kernel):
    return [s for s in statements(kernel.body) if isinstance(s, Store)]


mutants(
    SLOT,
    the_library_never_does=lambda kernel, operand: False,
    whenever_the_types_are_equal=_same_type,
    whenever_the_bytes_are_as_many=lambda kernel, name: _read(kernel, name) <= _written(kernel)
    and kernel.buffers[name].type.nbytes == kernel.out.type.nbytes,
    if_one_place_is_right=lambda kernel, operand: _same_type(kernel, operand)
    and bool(_read(kernel, operand) & _written(kernel)),
    # Refuses rows: there, a loop stands beside another one.
    only_without_inner_loops=lambda kernel, operand: _same_type(kernel, operand)
    and _read(kernel, operand) <= _written(kernel)
    and len(_stores(kernel)) == 1,
    # Equal indices, but in another loop they are another moment.
    by_names_of_indices=lambda kernel, operand: _same_type(kernel, operand)
    and _read(kernel, operand) == _written(kernel),
    # The rows are independent; what happens within one is not looked at.
    only_the_outer_loop=("through_out or not _reads_first(stmt.body, out)", "through_out"),
    # A loop may carry several: where the first is through another buffer, `out` may come next.
    unless_the_first_dependence_is_through_out=(
        "any((d.buffer == out for d in carried(stmt)))",
        "[d.buffer for d in carried(stmt)][:1] == [out]"),
    # A neighbour that is far away is written long before, too.
    looks_at_the_first_four_iterations=(
        "carried(stmt)", "carried(Loop(stmt.var, stmt.start, stmt.start + min(4, stmt.extent or 4),"
        " stmt.body))"),
    # Believes that a read after a write comes right after it.
    only_statements_side_by_side=(
        "written = written or 'write' in ways", "written = 'write' in ways"),
)  # fmt: skip

# To write what an earlier iteration has read is no harm: only a flow dependence is.
_OURS = "d.buffer == out"
alternatives(SLOT, only_what_flows_matters=(_OURS, f"{_OURS} and d.kind == 'flow'"))


@alternative(SLOT)
def by_running_the_indices(kernel, operand):
    """Play the loops, with sets instead of numbers: was this element written before?"""
    written: set[tuple[int, ...]] = set()

    def clean(body, values):
        for stmt in body:
            if isinstance(stmt, Loop):
                bounds = range(stmt.start.evaluate(values), stmt.stop.evaluate(values))
                if not all(clean(stmt.body, {**values, stmt.var: n}) for n in bounds):
                    return False
            elif isinstance(stmt, Write):
                for way, name, at in accesses((stmt,)):
                    if name not in (operand, "out"):
                        continue
                    if not all(isinstance(i, Affine) for i in at):
                        return False
                    element = tuple(i.evaluate(values) for i in at)
                    if way == "read" and name == operand and element in written:
                        return False
                    if way == "write" and name == "out":
                        written.add(element)
        return True

    return _same_type(kernel, operand) and clean(kernel.body, {})


def _by_depth(body, around=()):
    """Every access, with the loop variables called by how deep their loops lie, and how many there
    are that it does not use."""
    here = {var: Affine.var(f"depth{depth}") for depth, var in enumerate(around)}
    for stmt in body:
        if isinstance(stmt, Loop):
            yield from _by_depth(stmt.body, (*around, stmt.var))
            continue
        for way, name, at in accesses((stmt,)):
            at = tuple(i.substitute(here) if isinstance(i, Affine) else i for i in at)
            yield way, name, at, len(here) - sum(a in at for a in here.values())


@alternative(SLOT)
def reads_in_order_of_text(kernel, operand):
    """No read after a write in the text of any loop body, equal indices everywhere, and no loop
    that writes the same elements again."""
    every = set(_by_depth(kernel.body))
    reads = {at for way, name, at, _ in every if way == "read" and name == operand}
    writes = {at: more for way, name, at, more in every if way == "write" and name == "out"}

    def ordered(body):
        written = False
        for stmt in body:
            accessed = {(way, name) for way, name, _ in accesses((stmt,))}
            if written and ("read", operand) in accessed:
                return False
            written = written or ("write", "out") in accessed
            if isinstance(stmt, Loop) and not ordered(stmt.body):
                return False
        return True

    once = reads <= set(writes) and not any(writes.values())
    return _same_type(kernel, operand) and once and ordered(kernel.body)


_FREE = "more is refused, but none of what must be found: in doubt, it is False"
equivalent(
    SLOT, "if written and", "if written:", "(stmt, Loop) and", "(stmt, Loop):", because=_FREE
)
