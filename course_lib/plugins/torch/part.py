"""One region of a graph, compiled: the weights that it knows, the sizes that it has met.

    part(weight, x)     the first call compiles, with the weight as a constant: folded and packed
    part(weight, x)     the same code, if the weight is where it was and has the version that it had
    part(weight, y)     y of another size: other code, which is kept beside the first

A weight that changes again and again, as in training, becomes an input: then it is read in every
call, and nothing is compiled again. What we cannot do after all (`compile` raises, an index is
outside its axis), PyTorch does: it runs the region op by op, with its own result or its own error.

Results have PyTorch's strides: what it would lay out otherwise than row by row is copied into that
order. Next room: `record.py`.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from course_lib.compiler import compile
from course_lib.frontend.torch.captured import Captured, from_aten
from course_lib.plugins.torch.record import GraphRecord
from course_lib.plugins.torch.settings import Settings
from course_lib.runtime.direct import direct
from course_lib.runtime.executable import Executable

SIZES = 8  # for how many sets of sizes the code of a region is kept; the oldest goes
REFOLDS = 3  # how often a weight may change before it becomes an input

Run = Callable[[Sequence[Any]], tuple[Any, ...]]


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
        self.weights = frozenset(weights if settings.weights == "constants" else ())
        self.changes: Counter[int] = Counter()
        self.codes: OrderedDict[Any, Code] = OrderedDict()
        self.symbolic = any(map(_is_symbolic, region.graph.find_nodes(op="placeholder")))
        self.lock = threading.RLock()  # compiling; what is compiled has a lock of its own

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        return self.call(*args)

    def call(self, *args: Any) -> tuple[Any, ...]:
        key = tuple(map(_size, args)) if self.symbolic else None
        code = self.codes.get(key)
        if code is None or code.stale(args):
            code = self._prepare(key, args)
        return code.run(args)

    def _prepare(self, key: Any, args: Sequence[Any]) -> Code:
        with self.lock:
            code = self.codes.get(key)
            if code is not None:
                self.changes.update(code.stale(args))
            if code is None or code.stale(args):
                code = self._compiled(args)
            self.codes[key] = code
            self.codes.move_to_end(key)
            while len(self.codes) > SIZES:
                self.codes.popitem(last=False)
            return code

    def _compiled(self, args: Sequence[Any]) -> Code:
        """The region for these arguments. If it cannot be compiled, PyTorch runs it."""
        constants = {
            k for k in self.weights if self.changes[k] <= REFOLDS and _has_version(args[k])
        }
        known = [Weight(k, args[k]) for k in sorted(constants)]
        self.record.sizes += 1
        try:
            captured = from_aten(self.region, args, constants)
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


class Weight:
    """A tensor whose numbers are in our code: has anybody written to it since?

    PyTorch raises `_version` with each change in place. We hold on to its memory, so that no other
    tensor can ever be at the same address.
    """

    def __init__(self, position: int, tensor: Tensor) -> None:
        self.position, self.memory = position, tensor.detach()
        self.version, self.address = tensor._version, tensor.data_ptr()


class Code:
    """What runs a region, for the weights that it knows."""

    def __init__(self, known: Sequence[Weight], run: Run) -> None:
        self.known = [(weight.position, weight.version, weight.address) for weight in known]
        self.held = [weight.memory for weight in known]
        self.run = run

    def stale(self, args: Sequence[Any]) -> list[int]:
        """The positions of the weights that have changed."""
        return [
            position
            for position, version, address in self.known
            if (w := args[position])._version != version or w.data_ptr() != address
        ]


class Ours:
    """Our code between PyTorch's tensors: it reads their memory, and writes that of the results."""

    def __init__(
        self,
        captured: Captured,
        run: Executable,
        after: Callable[[Sequence[Any], Exception], tuple[Any, ...]],
    ) -> None:
        self.takes, self.results, self.run, self.after = (
            captured.takes,
            captured.results,
            run,
            after,
        )
        self.plain = all(r.like is not None and _is_by_rows(r.like) for r in captured.results)
        self.direct = direct(run)
        self.likes = [(tuple(r.like.shape), r.like.dtype) for r in captured.results
                      if r.like is not None]  # fmt: skip

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
        inputs = [args[k] for k in self.takes]
        try:
            outputs = self._outputs(inputs)
        except Exception as error:
            return self.after(args, error)
        if self.plain:
            return tuple(outputs)
        given = iter(outputs)
        return tuple(
            r.value if r.like is None else _as_strided(next(given), r.like) for r in self.results
        )

    def _outputs(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Row by row. Arrays stand in between only where our code needs them, or where a tensor has
        no bytes, or says that others are meant than it has (`imag` of a conjugate)."""
        if self.direct is not None and not any(x.is_neg() for x in inputs):
            inputs = [x if x.is_contiguous() else x.contiguous() for x in inputs]
            outputs = [torch.empty(n, dtype=d, device="cpu") for n, d in self.likes]
            reads, writes = [x.data_ptr() for x in inputs], [y.data_ptr() for y in outputs]
            if all(reads) and all(writes):
                self.direct(reads, writes)
                return outputs
        arrays = [x.detach().resolve_neg().numpy() for x in inputs]
        return list(map(torch.from_numpy, self.run.run(arrays)))


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


def _has_version(value: Any) -> bool:
    """Tensors made in inference mode do not count their changes."""
    return isinstance(value, Tensor) and not value.is_inference()
