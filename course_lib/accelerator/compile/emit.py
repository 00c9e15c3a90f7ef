"""From a tiled layer to instructions. No tokens yet: the text means what its order says.

    emit(layer, tile, chip, places)
    ->  lda ...; ldw ...;  preload ...; matmul ...; matmul ... add=1;  act ...; st ...

A step of `walk.py` becomes loads (what is not on the chip yet), then for each block of output
channels its products (`products.py`) and, where the sums are complete, `act` and `st`. `ahead` puts
the loads of a step before the work of the step in front of it, if they go to other slots. With long
queues it gains little, because the load engine runs ahead of the array by itself; with queues
shorter than a step it has to be this order. `tokens.py` finds who has to wait for whom. Next room:
`products.py`.

Reading path of the chip, 8 of 12; next: `accelerator/isa/execute.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.product import Block, Product, Run
from course_lib.accelerator.compile.products import products, sums_stay
from course_lib.accelerator.compile.slots import may_run_ahead, placed
from course_lib.accelerator.compile.tiles import OS, Footprint, Tile, footprint
from course_lib.accelerator.compile.walk import Step, spans, walk
from course_lib.accelerator.isa.execute import Matmul
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.store import Act, St

Program = list[Instruction]


@dataclass(frozen=True)
class Places:
    """Where a layer finds its operands in DRAM, in bytes, and how its results are limited.

    weights   (inputs, outputs) -> the matrix of these channels, as `product.pack` makes it
    params    entries of `cols` biases and scales, one for each block of output channels
    """

    x: int
    weights: Mapping[tuple[tuple[int, int], tuple[int, int]], int]
    params: int
    y: int
    low: int = -128
    high: int = 127
    origin: tuple[str, ...] = ()


@dataclass
class Work:
    """The instructions of one step: what it loads, and what it computes and stores."""

    loads: Program = field(default_factory=list)
    rest: Program = field(default_factory=list)


Order = Callable[[Iterable[Work]], Program]


def emit(
    product: Product, tile: Tile, chip: Chip, places: Places, order: Order | None = None
) -> Program:
    """The instructions of one layer, without tokens and without `halt`: loads `ahead` where that is
    right, unless another order is given."""
    steps = list(walk(product, tile, chip))
    layer = _Layer(product, tile, chip, places, steps)
    order = order or (ahead if layer.may_run_ahead() else in_turns)
    return order(layer.step(number, step) for number, step in enumerate(steps))


def in_turns(steps: Iterable[Work]) -> Program:
    """Load, work, load, work."""
    return [i for step in steps for i in (*step.loads, *step.rest)]


def ahead(steps: Iterable[Work]) -> Program:
    """The loads of each step stand before the work of the step in front of it. That is right only
    if they go to other slots (`slots.py`)."""
    program: Program = []
    before: Program = []
    for step in steps:
        program += [*step.loads, *before]
        before = step.rest
    return [*program, *before]


class _Layer:
    """Instructions for one step after another. `patches`, `weights` and `params` say for each step
    which slot it finds them in, and whether they must be loaded."""

    def __init__(
        self, product: Product, tile: Tile, chip: Chip, places: Places, steps: Sequence[Step]
    ) -> None:
        self.product, self.tile, self.chip, self.places = product, tile, chip, places
        room = footprint(product, tile, chip)
        self.room: Footprint = room
        self.patches = placed([(step.block, step.inputs) for step in steps], room.patches)
        self.out = room.patches * room.patch
        self.weights = placed([(step.inputs, step.outputs) for step in steps], room.weight_slots)
        self.params = placed([step.outputs for step in steps], room.param_slots)
        self.begun = 0  # sums that were begun; they take the slots of accumulators in turns

    def may_run_ahead(self) -> bool:
        return all(map(may_run_ahead, (self.patches, self.weights, self.params)))

    def step(self, number: int, step: Step) -> Work:
        work = Work()
        patch = self.load_patch(step, *self.patches[number], work.loads)
        params = self.load_params(step, *self.params[number], work.loads)
        columns = spans(step.outputs[1] - step.outputs[0], self.chip.cols)
        weights = self.load_weights(step, *self.weights[number], work.loads)
        for k, (first, end) in enumerate(columns):
            block = step.outputs[0] + first, step.outputs[0] + end
            sums = (self.begun + k) % self.room.sum_slots * self.room.sums
            work.rest += self.products(step, block, patch, weights[k], sums)
            if step.last:
                work.rest += self.results(step.block, block, params + k, sums)
        self.begun += len(columns) if step.last else 0
        return work

    # ── loads ──

    def load_patch(self, step: Step, slot: int, needed: bool, program: Program) -> int:
        """The piece of image of a step, with its border of zeros."""
        at = slot * self.room.patch
        if needed:
            places = self.places
            program.append(
                load_patch(self.product, step.block, step.inputs, places.x, at, places.origin)
            )
        return at

    def load_weights(self, step: Step, slot: int, needed: bool, program: Program) -> list[int]:
        """The weights of a step: where each block of output channels is."""
        at, addresses = slot * self.room.weights, []
        for outputs in spans(step.outputs[1] - step.outputs[0], self.chip.cols):
            block = step.outputs[0] + outputs[0], step.outputs[0] + outputs[1]
            inputs = block if self.product.depthwise else step.inputs
            rows, n = self.rows(inputs), block[1] - block[0]
            if needed:
                program.append(Ldw(
                    dram=self.places.weights[inputs, block], weights=at, rows=rows, bytes=n,
                    pitch=n, origin=self.places.origin,
                ))  # fmt: skip
            addresses.append(at)
            at += rows * self.chip.cols
        return addresses

    def rows(self, inputs: tuple[int, int]) -> int:
        kernel = self.product.kernel
        return kernel[0] * kernel[1] * (inputs[1] - inputs[0])

    def load_params(self, step: Step, slot: int, needed: bool, program: Program) -> int:
        first, end = (o // self.chip.cols for o in (step.outputs[0], step.outputs[1] - 1))
        at = slot * self.room.params
        if needed:
            dram = self.places.params + first * 8 * self.chip.cols
            origin = self.places.origin
            program.append(Ldb(dram=dram, params=at, count=end - first + 1, origin=origin))
        return at

    # ── the array ──

    def products(
        self, step: Step, outputs: tuple[int, int], patch: int, weights: int, sums: int
    ) -> list[Instruction]:
        """One block of output channels: its products, weight- or output-stationary."""
        product, n = self.product, outputs[1] - outputs[0]
        width, channels = product.patch(step.block)[1], step.inputs[1] - step.inputs[0]
        runs: Iterable[Run] = product.runs(width, channels)
        if product.depthwise:
            runs = product.taps(width, channels, outputs[0] - step.inputs[0], n)
        first = Matmul(
            acts=patch, h=step.block.h, w=step.block.w, step=product.strides[1] * channels,
            line=product.strides[0] * width * channels, k=1, n=n, accs=sums,
            add=0 if step.first else 1, origin=self.places.origin,
        )  # fmt: skip
        flow = sums_stay if self.tile.dataflow == OS else products
        return flow(list(runs), weights, first, self.chip.rows)

    # ── results ──

    def results(
        self, block: Block, outputs: tuple[int, int], params: int, sums: int
    ) -> Iterator[Instruction]:
        places, (first, end) = self.places, outputs
        n = end - first
        yield Act(
            accs=sums, n=n, params=params, acts=self.out, h=block.h, w=block.w, step=n,
            line=block.w * n, low=places.low, high=places.high, origin=places.origin,
        )  # fmt: skip
        yield store_block(self.product, block, outputs, self.out, places)


def load_patch(
    product: Product,
    block: Block,
    channels: tuple[int, int],
    x: int,
    acts: int,
    origin: tuple[str, ...] = (),
    fill: int = 0,
) -> Lda:
    """The piece of the image at `x` in DRAM that a block needs; what the border adds is `fill`."""
    starts = block.y, block.x
    lengths = product.patch(block)
    inside, before, after = [], [], []
    for axis in (0, 1):
        first = starts[axis] * product.strides[axis] - product.low[axis]
        end = first + lengths[axis]
        low, high = max(0, first), min(product.size[axis], end)
        inside.append((low, high - low))
        before.append(low - first)
        after.append(end - high)
    (top, h), (left, w) = inside
    line = product.size[1] * product.channels
    pixel = (block.image * product.size[0] + top) * line + left * product.channels
    return Lda(
        dram=x + pixel + channels[0], acts=acts, h=h, w=w, bytes=channels[1] - channels[0],
        step=product.channels, line=line, top=before[0], bottom=after[0], left=before[1],
        right=after[1], fill=fill, origin=origin,
    )  # fmt: skip


def store_block(
    product: Product, block: Block, outputs: tuple[int, int], acts: int, places: Places
) -> St:
    """Some channels of a block of the result, which lie without gaps at `acts`."""
    line = product.out[1] * product.outputs
    pixel = (block.image * product.out[0] + block.y) * line + block.x * product.outputs
    return St(
        acts=acts, dram=places.y + pixel + outputs[0], h=block.h, w=block.w,
        bytes=outputs[1] - outputs[0], step=product.outputs, line=line, origin=places.origin,
    )  # fmt: skip
