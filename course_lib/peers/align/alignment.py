"""The same operation in the dumps of several systems: which lines of each stage are it, and how
that is known.

    found = align(attention("block"), {"jax": stages, "iree": stages})
    found["jax"]["optimized hlo"].how       ->  "by name"

By name: the dump names what the model's graph names, at statements of the right kind. By pattern:
the dump has as many places of this form as the model's graph, and if there are several, each
depends on the one before it. In every other case it is not found, with the reason: that a place
looks alike is not enough. Next room: `pages.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from course_lib.peers.align.found import Alignment, Found
from course_lib.peers.align.operation import Operation, Place
from course_lib.peers.align.other_forms import read
from course_lib.peers.align.statement import Statement, fixed, in_order, users_of

BEFORE, BEHIND = "(?:__tvm_ffi_)?", "(?:_compute_|_kernel)?"  # of the names of functions
LONGEST = 400_000  # characters of a text that is read as statements; machine code is longer


def align(operation: Operation, dumps: Mapping[str, Mapping[str, str]]) -> Alignment:
    """The operation in every stage of every system. Nothing is run."""
    found = {system: _of_a_system(operation, stages) for system, stages in dumps.items()}
    return Alignment(operation, found)


def _of_a_system(operation: Operation, stages: Mapping[str, str]) -> dict[str, Found]:
    """Stage by stage. Where it was found leads on: to the code of its kernels, and to what says
    from which values of an earlier stage it was made."""
    found: dict[str, Found] = {}
    called: set[str] = set()
    names: Names | None = None
    for stage, text in stages.items():
        kernel, of_one, _ = stage.partition(": ")
        if of_one:
            found[stage] = _text_of(kernel, text, called)
            continue
        statements = read(text, stages) if len(text) < LONGEST else []
        if names is None:
            given = operation.known <= {one.result for one in statements}
            names = Names(operation.names, operation.results if given else frozenset())
        one, place = in_stage(operation, statements, text.splitlines(), names)
        if not one and (code := _functions(text, called) or _calls(text, called)):
            one = Found("by the kernel's name", *code)
        found[stage] = one
        now = {name for kernel in _kernels(place) for name in _code_of(kernel, text)}
        called = now or called  # another stage may use an earlier stage's word for something else
        parts = [one for one in place if one.kinds & operation.core]
        nodes = {name for one in parts for name in (one.result, one.label) if name}
        names = replace(names, nodes=names.nodes | nodes)
    return found


@dataclass(frozen=True)
class Names:
    """What a dump may say of the operation: parts of the model, values that the system was given
    under these names, and values of its own earlier stages."""

    parts: frozenset[str]
    results: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()

    def of(self, one: Statement) -> frozenset[str]:
        """Those that stand at a statement, without what onnxruntime writes behind them."""
        values = {re.sub(r"_nchwc$", "", name) for name in (*one.names, one.result)}
        return one.names & self.parts | values & self.results | one.nodes & self.nodes


def in_stage(
    operation: Operation, statements: list[Statement], lines: list[str], names: Names
) -> tuple[Found, Place]:
    """Where it stands in one dump."""
    how, place = _chosen(operation, names, statements)
    if not place:
        return Found(f"not found: {how}"), []
    kernels = _kernels(place)
    numbers = sorted({k for one in place for k in one.lines})
    inside = [one for kernel in kernels for one in kernel.inside]
    more = [one for one in inside if one not in place and one.computes]
    others = [one.word for one in more if not fixed(one)]  # not the factor of a batch norm
    apart = operation.core | {"pointwise", "movement", "max", "other"}
    others += [kind for one in kernels if not one.inside for kind in sorted(one.kinds - apart)]
    shown = {k: lines[k - 1] for k in numbers}
    words = tuple(one.calls or one.word for one in kernels)
    return Found(how, shown, words, tuple(dict.fromkeys(others))), place


def _distinct(places: list[Place]) -> list[Place]:
    """Without those that are part of another one: of a product that reads two softmaxes, say."""
    return [one for k, one in enumerate(places)
            if not any(set(one) < set(other) or (set(one) == set(other) and j < k)
                       for j, other in enumerate(places) if j != k)]  # fmt: skip


def _chosen(operation: Operation, names: Names, statements: list[Statement]) -> tuple[str, Place]:
    """The place that is meant and how that is known, or why none is."""
    places = _distinct(operation.pattern(statements))
    named = [place for place in places
             if any(names.of(one) for one in place if one.kinds & operation.core)]  # fmt: skip
    whole = [place for place in named if all(_parts_named(operation, names, place))]
    named = whole or named
    if len(named) == 1:
        return "by name", named[0]
    if len(named) > 1:
        return f"{len(named)} places have its names", []
    if not places:
        alone = _alone(operation, names, statements)
        return ("by name", alone) if alone else ("nothing has its names, and nothing its form", [])
    if len(places) != operation.count:
        return f"{len(places)} places have its form, and the model has {operation.count}", []
    firsts = [place[0] for place in places]
    if not in_order(firsts, users_of(statements)):
        return f"{len(places)} places have its form, in no certain order", []
    return "by pattern", places[operation.which]


def _parts_named(operation: Operation, names: Names, place: Place) -> list[bool]:
    """Of each part of the operation: is it named there? A kernel may have names of its neighbours,
    too, but hardly of all parts."""
    said = frozenset().union(*map(names.of, place))
    return [bool(said & part) for part in operation.each]


def _alone(operation: Operation, names: Names, statements: list[Statement]) -> Place:
    """Statements that have its names, where no form is to be seen: all of its parts, or none; or
    a convolution that has the name of its last part; or one statement of which no kind is known
    that has names of several parts and of the last."""
    said = [one for one in statements if one.computes and names.of(one)]
    known = {one: _with_products(operation, names, one) for one in said}
    place = [one for one in said if known[one] & operation.core.union(*operation.parts)]
    kinds = frozenset().union(*(known[one] for one in place))
    if all(kinds & part for part in operation.parts):
        return place
    if "conv" in operation.core:
        fused = [
            one for one in place if "conv" in known[one] and names.of(one) & operation.each[-1]
        ]
        return fused if len(fused) == len(place) == 1 else []
    named = [(one, _parts_named(operation, names, [one])) for one in said if one.kinds == {"other"}]
    unknown = [one for one, parts in named if sum(parts) > 1 and parts[-1]]
    return unknown if len(unknown) == 1 and not place else []


def _with_products(operation: Operation, names: Names, one: Statement) -> frozenset[str]:
    """Its kinds: a product with a convolution's name computes that convolution."""
    named = "matmul" in one.kinds and names.of(one) & operation.each[0]
    return one.kinds | {"conv"} if named and "conv" in operation.core else one.kinds


def _kernels(place: Place) -> list[Statement]:
    """What is launched for it, without what only names values anew."""
    kernels = dict.fromkeys(one.kernel for one in place if one.computes)
    return list(kernels)


def _code_of(kernel: Statement, text: str) -> set[str]:
    """What a kernel's code is called in later stages. XLA names it like the value of a fusion."""
    if text.startswith("HloModule"):
        return {kernel.result} - {""}
    return {kernel.calls} - {""}


def _text_of(kernel: str, text: str, called: set[str]) -> Found:
    """A stage that is the text of one kernel, after which it is named."""
    if kernel not in called:
        return Found("not found: the text of a kernel that does not compute it")
    return Found("by the kernel's name", dict(enumerate(text.splitlines(), 1)), (kernel,))


def _calls(text: str, names: set[str]) -> tuple[dict[int, str], tuple[str, ...]] | None:
    """The lines that call these kernels, if each of them is called once: of two calls, one would
    be another operation's."""
    if not names:
        return None
    any_of = "|".join(map(re.escape, sorted(names)))
    call = re.compile(
        rf"^\s+(?:call\s+(?P<a>{any_of})\s+in:|(?P<b>{any_of})\()"
        rf"|::@(?P<c>{any_of})(?![\w.$])|vm\.rodata [^\"]*\"(?P<d>{any_of})\""
    )
    found = [(k, line, m[m.lastgroup or 0]) for k, line in enumerate(text.splitlines(), 1)
             if (m := call.search(line))]  # fmt: skip
    if sorted(name for _, _, name in found) != sorted(names):
        return None
    return {k: line for k, line, _ in found}, tuple(name for _, _, name in found)


def _functions(text: str, names: set[str]) -> tuple[dict[int, str], tuple[str, ...]] | None:
    """The lines of functions of these names, in whatever language, and which of them there are."""
    if not names:
        return None
    lines, shown, found = text.splitlines(), {}, []
    any_of = "|".join(map(re.escape, sorted(names)))
    header = re.compile(
        rf"^\s*(?:kernel @|define [^@]*@\"?|(?:\w+ )*(?:func|llvm)\.func [^@]*@|def |.*\bvoid\s+)"
        rf"{BEFORE}(?P<a>{any_of}){BEHIND}(?![\w.$])"
        rf"|^{BEFORE}(?P<b>{any_of}){BEHIND}(?::| = async_compile)"
    )
    k = 0
    while k < len(lines):
        if not (match := header.match(lines[k])):
            k += 1
            continue
        found.append(match["a"] or match["b"])
        end = _end(lines, k)
        shown |= {j + 1: lines[j] for j in range(k, end)}
        k = end
    return (shown, tuple(dict.fromkeys(found))) if shown else None


def _end(lines: list[str], start: int) -> int:
    """Behind the last line of a function: where its bracket closes, or the next label stands."""
    if lines[start].rstrip().endswith(":") and not lines[start].lstrip().startswith("def "):
        stops = (
            k for k in range(start + 1, len(lines)) if re.match(r"[A-Za-z_][\w$.]*:", lines[k])
        )
        return next(stops, len(lines))
    margin = len(lines[start]) - len(lines[start].lstrip())
    for k in range(start + 1, len(lines)):
        line = lines[k]
        if re.match(r"\s*(?:\}|'''\))", line) and len(line) - len(line.lstrip()) <= margin:
            return k + 1
        if (
            lines[start].lstrip().startswith("def ")
            and line.strip()
            and (len(line) - len(line.lstrip()) <= margin)
        ):
            return k
    return len(lines)
