"""Mutants and alternatives of unit 4 for one step: may_overwrite. Next room: order.py."""

from __future__ import annotations

import itertools

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.expr import Affine
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Loop, Store, Write
from course_lib.ir.loops.walk import accesses, statements
from course_lib.memory.in_place import reading_out


def _same_type(kernel, operand):
    return kernel.buffers[operand].type == kernel.out.type


def _places(kernel, operand):
    """The indices at which the operand is read, and at which the result is written."""
    found = accesses(kernel.body)
    reads = [at for way, name, at in found if way == "read" and name == operand]
    writes = [at for way, name, at in found if way == "write" and name == "out"]
    return reads, writes


@mutant("schedule.in_place.may_overwrite")
def whenever_the_types_are_equal(kernel, operand):
    return _same_type(kernel, operand)


@mutant("schedule.in_place.may_overwrite")
def whenever_the_bytes_are_as_many(kernel, operand):
    reads, writes = _places(kernel, operand)
    return kernel.buffers[operand].type.nbytes == kernel.out.type.nbytes and set(reads) <= set(
        writes
    )


@mutant("schedule.in_place.may_overwrite")
def if_one_place_is_right(kernel, operand):
    reads, writes = _places(kernel, operand)
    return _same_type(kernel, operand) and any(at in writes for at in reads)


@mutant("schedule.in_place.may_overwrite")
def only_without_inner_loops(kernel, operand):
    """Refuses rows: there, a loop stands beside another one."""
    reads, writes = _places(kernel, operand)
    stores = [s for s in statements(kernel.body) if isinstance(s, Store)]
    return _same_type(kernel, operand) and set(reads) <= set(writes) and len(stores) == 1


@mutant("schedule.in_place.may_overwrite")
def by_names_of_indices(kernel, operand):
    """Equal indices, but in another loop they are another moment."""
    reads, writes = _places(kernel, operand)
    return _same_type(kernel, operand) and set(reads) == set(writes)


@mutant("schedule.in_place.may_overwrite")
def only_the_outer_loop(kernel, operand):
    """The rows are independent; what happens within one is not looked at."""
    if not _same_type(kernel, operand):
        return False
    return all(not carried(s) for s in reading_out(kernel, operand).body if isinstance(s, Loop))


@mutant("schedule.in_place.may_overwrite")
def unless_the_first_dependence_is_through_out(kernel, operand):
    """A loop may carry several: where the first is through another buffer, `out` may come next."""
    if not _same_type(kernel, operand):
        return False

    def clean(body):
        written = False
        for stmt in body:
            ways = {way for way, name, _ in accesses((stmt,)) if name == "out"}
            if written and "read" in ways:
                return False
            written = written or "write" in ways
            both = isinstance(stmt, Loop) and ways == {"read", "write"}
            first = [d.buffer for d in carried(stmt)][:1] if both else []
            if both and (first == ["out"] or not clean(stmt.body)):
                return False
        return True

    return clean(reading_out(kernel, operand).body)


@mutant("schedule.in_place.may_overwrite")
def the_library_never_does(kernel, operand):
    return False


@mutant("schedule.in_place.may_overwrite")
def only_statements_side_by_side(kernel, operand):
    """Believes that a read after a write comes right after it."""
    if not _same_type(kernel, operand):
        return False

    def ways(stmt):
        return {way for way, name, _ in accesses((stmt,)) if name == "out"}

    def clean(body):
        pairs = itertools.pairwise(body)
        if any("write" in ways(one) and "read" in ways(two) for one, two in pairs):
            return False
        both = [s for s in body if isinstance(s, Loop) and ways(s) == {"read", "write"}]
        through = any(d.buffer == "out" for s in both for d in carried(s))
        return not through and all(clean(s.body) for s in both)

    return clean(reading_out(kernel, operand).body)


@alternative("schedule.in_place.may_overwrite")
def only_what_flows_matters(kernel, operand):
    """To write what an earlier iteration has read is no harm: only a flow dependence is."""
    if not _same_type(kernel, operand):
        return False

    def late(body):
        written = False
        for stmt in body:
            ways = {way for way, name, _ in accesses((stmt,)) if name == "out"}
            yield written and "read" in ways
            written = written or "write" in ways
            if isinstance(stmt, Loop):
                yield any(d.buffer == "out" and d.kind == "flow" for d in carried(stmt))
                yield from late(stmt.body)

    return not any(late(reading_out(kernel, operand).body))


@alternative("schedule.in_place.may_overwrite")
def by_running_the_indices(kernel, operand):
    """Play the loops, with sets instead of numbers: was this element written before?"""
    if not _same_type(kernel, operand):
        return False
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

    return clean(kernel.body, {})


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
            used = [a for a in here.values() if a in at]
            yield way, name, at, len(here) - len(used)


@alternative("schedule.in_place.may_overwrite")
def reads_in_order_of_text(kernel, operand):
    """No read after a write in the text of any loop body, equal indices everywhere, and no loop
    that writes the same elements again."""
    found = set(_by_depth(kernel.body))
    reads = {at for way, name, at, _ in found if way == "read" and name == operand}
    writes = {at for way, name, at, _ in found if way == "write" and name == "out"}
    again = any(more for way, name, _, more in found if way == "write" and name == "out")
    if not _same_type(kernel, operand) or not reads <= writes or again:
        return False

    def ordered(body):
        written = False
        for stmt in body:
            found = accesses((stmt,))
            if written and any(w == "read" and name == operand for w, name, _ in found):
                return False
            written = written or any(name == "out" for w, name, _ in found if w == "write")
            if isinstance(stmt, Loop) and not ordered(stmt.body):
                return False
        return True

    return ordered(kernel.body)


_FREE = (
    "more is refused, but none of the kernels that must be found: if it cannot tell, it is False"
)
equivalent("schedule.in_place.may_overwrite", "if written and", "if written:", because=_FREE)
equivalent("schedule.in_place.may_overwrite", "(stmt, Loop) and", "(stmt, Loop):", because=_FREE)
