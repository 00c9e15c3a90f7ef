"""Mutants and alternatives of unit 4 for steps: may_overwrite, order."""

from __future__ import annotations

import functools

from autograder.check.framework import alternative, mutant
from course_lib.ir.expr import Affine
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Loop, Store, Write
from course_lib.ir.loops.walk import accesses, statements
from course_lib.memory.in_place import reading_out
from course_lib.memory.order import peak

# ── schedule.in_place.may_overwrite ──


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
    """Every access, with the loop variables called by how deep their loops lie."""
    here = {var: Affine.var(f"depth{depth}") for depth, var in enumerate(around)}
    for stmt in body:
        if isinstance(stmt, Loop):
            yield from _by_depth(stmt.body, (*around, stmt.var))
            continue
        for way, name, at in accesses((stmt,)):
            yield way, name, tuple(i.substitute(here) if isinstance(i, Affine) else i for i in at)


@alternative("schedule.in_place.may_overwrite")
def reads_in_order_of_text(kernel, operand):
    """No read after a write in the text of any loop body, and equal indices everywhere."""
    found = set(_by_depth(kernel.body))
    reads = {at for way, name, at in found if way == "read" and name == operand}
    writes = {at for way, name, at in found if way == "write" and name == "out"}
    if not _same_type(kernel, operand) or not set(reads) <= set(writes):
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


# ── schedule.order.order ──


def _needs(tasks):
    at = {task.writes: k for k, task in enumerate(tasks)}
    return [{at[v] for v in task.reads if v in at} for task in tasks]


def _greedy(tasks, cost):
    """Always the ready task with the least cost."""
    needs, done = _needs(tasks), []
    while len(done) < len(tasks):
        ready = [k for k in range(len(tasks)) if k not in done and needs[k] <= set(done)]
        done.append(min(ready, key=lambda k: (cost(k, done, needs), k)))
    return done


def _growth(tasks):
    def cost(k, done, needs):
        others = [needs[j] for j in range(len(tasks)) if j not in done and j != k]
        freed = [j for j in needs[k] if not any(j in other for other in others)]
        return tasks[k].size - sum(tasks[j].size for j in freed)

    return cost


@mutant("schedule.order.order")
def as_they_came(tasks):
    return list(range(len(tasks)))


@mutant("schedule.order.order")
def small_ones_first(tasks):
    return sorted(range(len(tasks)), key=lambda k: tasks[k].size)


@mutant("schedule.order.order")
def backwards(tasks):
    return list(reversed(range(len(tasks))))


@mutant("schedule.order.order")
def names_instead_of_positions(tasks):
    return [tasks[k].writes for k in _greedy(tasks, _growth(tasks))]


@mutant("schedule.order.order")
def without_the_last(tasks):
    return _greedy(tasks, _growth(tasks))[:-1]


@mutant("schedule.order.order")
def big_ones_first(tasks):
    """Legal, and often worse than the order as given."""
    return _greedy(tasks, lambda k, done, needs: -tasks[k].size)


@mutant("schedule.order.order")
def worse_where_greed_fails(tasks):
    return _greedy(tasks, _growth(tasks))


@alternative("schedule.order.order")
def least_growth_first(tasks):
    """Correct, for a part of the points."""
    found, given = _greedy(tasks, _growth(tasks)), range(len(tasks))
    return tuple(found if peak(tasks, found) <= peak(tasks, given) else given)


@alternative("schedule.order.order")
def the_best_of_all(tasks):
    """Every set of tasks that can be done, with the best way on from it."""
    needs, everything = _needs(tasks), frozenset(range(len(tasks)))
    readers = [{k for k in everything if j in needs[k]} for j in range(len(tasks))]

    @functools.cache
    def way(done):
        if done == everything:
            return 0, ()
        alive = sum(tasks[j].size for j in done if readers[j] - done)
        found = []
        for k in everything - done:
            if needs[k] <= done:
                peak, rest = way(done | {k})
                found.append((max(peak, alive + tasks[k].size), (k, *rest)))
        return min(found)

    return list(way(frozenset())[1])
