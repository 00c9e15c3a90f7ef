"""One region of a graph, compiled: the weights that it knows, the sizes that it has met.

    part(weight, x)     the first call compiles, with the weight as a constant: folded and packed
    part(weight, x)     the same code, if the weight is where it was and has the version that it had
    part(weight, y)     y of another size: other code, which is kept beside the first
    part(other, x)      so has another model of the same class: PyTorch has one graph for both

A bounded number of codes is kept. The one that was not used for longest goes first; that of a model
that is no more goes with it. A weight that changes in place again and again, as in training,
becomes an input: it is read in every call then, and nothing is compiled again. So do all weights of
a region where others come so often that compiling for them does not pay.

What we cannot do after all (`compile` raises, an index is outside its axis), PyTorch does: it runs
the region op by op, with its own result or its own error.

Results have PyTorch's strides: what it would lay out otherwise than row by row is copied into that
order. Next room: `weights.py`.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from course_lib.compiler import compile
from course_lib.frontend.torch.captured import Captured, from_aten
from course_lib.plugins.torch.record import GraphRecord
from course_lib.plugins.torch.settings import Settings
from course_lib.plugins.torch.weights import ADDRESS, Known, picker
from course_lib.runtime.direct import direct
from course_lib.runtime.executable import Executable, counted

CODES = 8  # how many codes of a region are kept: for sets of sizes, and for sets of weights
REFOLDS = 3  # how often a weight may change in place before it becomes an input
PAYS = 100  # so many calls for each of the last sets of weights, or one more does not pay

Run = Callable[[Sequence[Any]], tuple[Any, ...]]
Key = tuple[Any, tuple[int, ...]]  # sizes, and which tensors the weights are


class Part(nn.Module):
    """A region. A module, because it takes the place of one; PyTorch sees no weights in it."""

    def __init__(
        self,
        region: fx.GraphModule,
        weights: Collection[int],
        settings: Settings,
        record: GraphRecord,
    ) -> None:
        super().__init__()
        self.region, self.settings, self.record = region, settings, record
        self.codes: dict[Key, Code] = {}
        self.changes: Counter[int] = Counter()
        self.calls = itertools.count()
        self.born: deque[int] = deque(maxlen=CODES)  # the calls that brought new weights
        self.symbolic = any(map(_is_symbolic, region.graph.find_nodes(op="placeholder")))
        self.lock = threading.RLock()  # compiling; what is compiled has a lock of its own
        self.look = settings.weights == "constants"
        self._fix(weights if settings.weights != "inputs" else ())

    def _fix(self, weights: Collection[int]) -> None:
        """Arguments at these positions are constants of our code, the others are its inputs."""
        self.weights = sorted(weights)
        self.pick = picker(self.weights)
        self.codes.clear()

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        return self.call(*args)

    def call(self, *args: Any) -> tuple[Any, ...]:
        now, weights = next(self.calls), self.pick(args)
        code = self.codes.get(self._key(args, weights))
        if code is None or (self.look and not code.known.same(weights)):
            code = self._prepare(args, now)
        code.used = now
        return code.run(args)

    def _key(self, args: Sequence[Any], weights: Sequence[Tensor]) -> Key:
        return tuple(map(_size, args)) if self.symbolic else None, tuple(map(id, weights))

    def _prepare(self, args: Sequence[Any], now: int) -> Code:
        """Code for these sizes, and for the weights as they are now."""
        with self.lock:
            self._decide(args, now)
            weights = self.pick(args)
            key = self._key(args, weights)
            code = self.codes.get(key)
            if code is None:  # else another thread was faster
                self._make_room()
                code = self.codes[key] = self._compiled(args, Known(weights, self._drops(key)))
            return code

    def _make_room(self) -> None:
        while len(self.codes) >= CODES:
            used = {key: code.used for key, code in self.codes.copy().items()}
            self.codes.pop(min(used, key=used.__getitem__), None)

    def _drops(self, key: Key) -> Callable[[Any], object]:
        """What is called when one of these weights is no more; and maybe this part neither."""
        part = weakref.ref(self)
        return lambda _: (own := part()) and own.codes.pop(key, None)

    def _decide(self, args: Sequence[Any], now: int) -> None:
        """Which weights are inputs from now on, and which codes are of no use any more."""
        uncounted = [k for k in self.weights if args[k].is_inference()]
        self._become_inputs(uncounted, "in inference mode PyTorch does not count changes")
        weights = self.pick(args)
        key = self._key(args, weights)
        own = [other for other in list(self.codes) if other[1] == key[1]]  # of all sizes
        code = self.codes.get(key)
        if code is not None and (changed := code.known.changed(weights)):
            self.changes.update(self.weights[k] for k in changed)
            for other in own:
                self.codes.pop(other, None)
            often = [k for k in self.weights if self.changes[k] > REFOLDS]
            self._become_inputs(often, "they change in place again and again")
        elif not own:
            if len(self.born) == CODES and now - self.born[0] < PAYS * CODES:
                within = f"{CODES} other sets came within {now - self.born[0]} calls"
                self._become_inputs(self.weights, within)
            self.born.append(now)

    def _become_inputs(self, weights: Collection[int], why: str) -> None:
        if weights:
            self.record.notes.append(f"{counted(len(weights), 'weight')} became inputs: {why}")
            self._fix(set(self.weights) - set(weights))

    def _compiled(self, args: Sequence[Any], known: Known) -> Code:
        """The region for these arguments. If it cannot be compiled, PyTorch runs it."""
        self.record.sizes += 1
        try:
            captured = from_aten(self.region, args, self.weights)
            run = compile(
                captured.graph,
                target=self.settings.target,
                passes=self.settings.passes,
                threads=self.settings.workers,
            )
        except Exception as error:  # whatever it is: the program goes on without us
            self.record.fail(f"{type(error).__name__}: {error}")
            return Code(known, self._eager)
        self.record.kernels[type(self.region).__name__] = run.kernels
        return Code(known, Ours(captured, run, self._after))

    def _after(self, args: Sequence[Any], error: Exception) -> tuple[Any, ...]:
        """Our code raised. Either PyTorch raises, too, and in its own words, or it can do it."""
        results = self._eager(args)
        self.record.fail(f"{type(error).__name__}: {error}")
        return results

    def _eager(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The region op by op. What autocast would do stands in the graph already."""
        with torch.no_grad(), torch._C._DisableAutocast():
            return self.region(*args)


class Code:
    """What runs a region, for the weights that it knows; `used` in that call for the last time."""

    def __init__(self, known: Known, run: Run) -> None:
        self.known, self.run, self.used = known, run, 0


class Ours:
    """Our code between PyTorch's tensors: it reads their memory, and writes that of the results."""

    def __init__(
        self,
        captured: Captured,
        run: Executable,
        after: Callable[[Sequence[Any], Exception], tuple[Any, ...]],
    ) -> None:
        self.pick, self.results = picker(captured.takes), captured.results
        self.run, self.after = run, after
        self.plain = all(r.like is not None and _is_by_rows(r.like) for r in captured.results)
        self.likes = [(torch.empty((), dtype=r.like.dtype, device="cpu"), tuple(r.like.shape))
                      for r in captured.results if r.like is not None]  # fmt: skip
        ends = [*captured.graph.inputs, *captured.graph.outputs]
        self.direct = direct(run) if all(node.type.nbytes for node in ends) else None

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
        try:
            outputs = self._outputs(args)
        except Exception as error:
            return self.after(args, error)
        if self.plain:
            return tuple(outputs)
        given = iter(outputs)
        return tuple(
            r.value if r.like is None else _as_strided(next(given), r.like) for r in self.results
        )

    def _outputs(self, args: Sequence[Any]) -> list[Tensor]:
        """Row by row. Arrays stand in between only where our code needs them, or where a tensor has
        no bytes, and so no address."""
        inputs = [
            x if x.is_contiguous() and not x.is_neg() else _by_rows(x) for x in self.pick(args)
        ]
        if self.direct is None:
            return list(map(torch.from_numpy, self.run.run([x.detach().numpy() for x in inputs])))
        outputs = [scalar.new_empty(dims) for scalar, dims in self.likes]
        self.direct(map(ADDRESS, inputs), map(ADDRESS, outputs))
        return outputs


def _by_rows(tensor: Tensor) -> Tensor:
    """A tensor may say that others are meant than it has: `imag` of a conjugate."""
    return tensor.resolve_neg().contiguous()


def _is_by_rows(like: Tensor) -> bool:
    return like.stride() == torch.empty(like.shape, device="meta").stride()


def _as_strided(tensor: Tensor, like: Tensor) -> Tensor:
    """The numbers in the order of `like`, if no two of them share a place there."""
    places = sum((n - 1) * s for n, s in zip(like.shape, like.stride(), strict=True)) + 1
    if like.is_contiguous():  # axes of one element may have any stride
        return tensor.as_strided(like.shape, like.stride())
    if places != like.numel():
        return tensor
    result = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device="cpu")
    return result.copy_(tensor)


def _size(argument: Any) -> Any:
    """Strides count: those of the results follow from them."""
    return (argument.shape, argument.stride()) if isinstance(argument, Tensor) else argument


def _is_symbolic(node: fx.Node) -> bool:
    kind = node.meta.get("val")
    sizes = kind.shape if isinstance(kind, Tensor) else [kind]
    return any(isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)) for size in sizes)
