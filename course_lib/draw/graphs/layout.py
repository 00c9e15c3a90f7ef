"""Where the boxes of a drawn graph stand, and how the lines between them run.

    layered([Size(40, 40, 30)] * 3, [(0, 1), (0, 2)])
        ->  one box above, two below side by side, two lines

The layered method of Sugiyama, Tagawa and Toda (1981), as Graphviz has it too: give every box a
rank, put invisible joints where a line crosses a rank, order each rank so that few lines cross,
then slide boxes sideways until lines are straight. Next room: `boxes.py`.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass

RANK_GAP, SIDE_GAP = 26.0, 22.0
JOINT = 5.0  # half of the room that a passing line takes
SWEEPS, SLIDES = 8, 24


@dataclass(frozen=True)
class Size:
    """The extent of a box around the axis on which its lines arrive and leave, in pixels.

    `above` and `below` are more room, which lines cross to reach the box.
    """

    left: float
    right: float
    height: float
    above: float = 0.0
    below: float = 0.0


@dataclass(frozen=True)
class Layout:
    """`at[k]` is the axis and the middle of box k; a line is its points from top to bottom.

    The points of a curved line are the knots and the handles of Bézier curves; other lines go
    straight through each rank and bend between two.
    """

    width: float
    height: float
    at: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    curved: bool = False


def layered(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> Layout:
    """Lay out an acyclic graph whose edges run from a smaller index to a larger one."""
    if not sizes:
        return Layout(0.0, 0.0, [], [])
    assert all(a < b for a, b in edges), "boxes must come in topological order"
    rank = _ranks(len(sizes), edges)
    net = _Net(list(sizes), rank, edges)
    net.order()
    x = net.slide()
    heights: list[tuple[float, float]] = []  # of each rank, above and below its middle
    middle, top = [], 0.0
    for layer in net.layers:
        up = max(net.sizes[v].height / 2 + net.sizes[v].above for v in layer)
        down = max(net.sizes[v].height / 2 + net.sizes[v].below for v in layer)
        heights.append((up, down))
        middle.append(top + up)
        top += up + down + RANK_GAP
    shift = -min(x[v] - net.sizes[v].left for v in range(len(x)))
    x = [value + shift for value in x]
    width = max(x[v] + net.sizes[v].right for v in range(len(x)))
    at = [(x[v], middle[net.rank[v]]) for v in range(len(sizes))]
    ends = zip(net.chains, _ports(net, x), strict=True)
    lines = [_line(net, chain, end, x, middle, heights) for chain, end in ends]
    return Layout(width, top - RANK_GAP, at, lines)


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest path from the top; a box that nothing points to stands just above its reader."""
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        before[b].append(a)
        after[a].append(b)
    rank = [0] * count
    for v in range(count):
        rank[v] = max((rank[u] + 1 for u in before[v]), default=0)
    for v in range(count):
        if not before[v] and after[v]:
            rank[v] = min(rank[u] for u in after[v]) - 1
    return rank


class _Net:
    """The boxes and the joints of long lines, rank by rank."""

    def __init__(self, sizes: list[Size], rank: list[int], edges: Sequence[tuple[int, int]]):
        self.boxes = len(sizes)
        self.sizes, self.rank = sizes, list(rank)
        self.chains: list[list[int]] = []
        joints: dict[tuple[int, int], int] = {}  # lines of one value share their joints
        for a, b in edges:
            chain = [a]
            for level in range(rank[a] + 1, rank[b]):
                if (a, level) not in joints:
                    joints[a, level] = len(self.sizes)
                    self.sizes.append(Size(JOINT, JOINT, 0.0))
                    self.rank.append(level)
                chain.append(joints[a, level])
            self.chains.append([*chain, b])
        links = sorted({pair for c in self.chains for pair in itertools.pairwise(c)})
        self.up: list[list[int]] = [[] for _ in self.sizes]
        self.down: list[list[int]] = [[] for _ in self.sizes]
        for a, b in links:
            self.down[a].append(b)
            self.up[b].append(a)
        self.layers: list[list[int]] = [[] for _ in range(max(self.rank) + 1)]
        for v in self._first_order():
            self.layers[self.rank[v]].append(v)

    def _first_order(self) -> list[int]:
        """Depth first, so that what belongs together starts together; boxes before joints."""
        seen: set[int] = set()
        result: list[int] = []
        for root in range(self.boxes):
            stack = [root]
            while stack:
                v = stack.pop()
                if v not in seen:
                    seen.add(v)
                    result.append(v)
                    stack.extend(sorted(self.down[v], reverse=True))
        return result

    def order(self) -> None:
        """Sort each rank by the average place of its neighbours, down and up; keep the best."""
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(SWEEPS):
            downward = sweep % 2 == 0
            near = self.up if downward else self.down
            for layer in self.layers if downward else reversed(self.layers):
                place = {u: k for la in self.layers for k, u in enumerate(la)}
                key = {
                    v: sum(place[u] for u in near[v]) / len(near[v]) if near[v] else place[v]
                    for v in layer
                }
                layer.sort(key=lambda v: key[v])
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best

    def _crossings(self) -> int:
        total = 0
        for upper, lower in zip(self.layers, self.layers[1:], strict=False):
            place = {v: k for k, v in enumerate(lower)}
            seen: list[int] = []
            for v in upper:
                ends = sorted(place[u] for u in self.down[v])
                total += sum(len(seen) - bisect_right(seen, e) for e in ends)
                for e in ends:
                    insort(seen, e)
        return total

    def slide(self) -> list[float]:
        """Move every box towards its neighbours, as far as the others of its rank allow."""
        x = [0.0] * len(self.sizes)
        for layer in self.layers:
            self._place(layer, x, [0.0] * len(layer), [False] * len(x))
        above, below = (
            self._lengths(self.layers, self.up),
            self._lengths(self.layers[::-1], self.down),
        )
        longest = max(map(sum, zip(above, below, strict=True)))
        spine = [a + b == longest for a, b in zip(above, below, strict=True)]
        for step in range(SLIDES):
            upward = step % 2 == 0
            near, length = (self.down, below) if upward else (self.up, above)
            for layer in reversed(self.layers) if upward else self.layers:
                wanted = [self._wanted(v, near[v], length, x) for v in layer]
                self._place(layer, x, wanted, spine)
        self._straighten(x)
        return x

    def _lengths(self, layers: list[list[int]], near: list[list[int]]) -> list[int]:
        """How many boxes are on the longest way that ends at each box or joint."""
        length = [0] * len(self.sizes)
        for layer in layers:
            for v in layer:
                length[v] = max((length[u] for u in near[v]), default=0) + (v < self.boxes)
        return length

    def _wanted(self, v: int, near: list[int], length: list[int], x: list[float]) -> float:
        """Under (or above) those neighbours that are on the longest way, so that it is straight."""
        most = max((length[u] for u in near), default=0)
        best = [x[u] for u in near if length[u] == most]
        return sum(best) / len(best) if best else x[v]

    def _straighten(self, x: list[float]) -> None:
        """Give each long line one place for its whole length, if there is one."""
        for chain in self.chains:
            joints = chain[1:-1]
            places = sorted({x[v] for v in joints}, key=lambda at: abs(at - x[chain[0]]))
            for at in places:
                if all(self._fits(v, at, x) for v in joints):
                    for v in joints:
                        x[v] = at
                    break

    def _fits(self, v: int, at: float, x: list[float]) -> bool:
        layer = self.layers[self.rank[v]]
        k = layer.index(v)
        left_free = k == 0 or x[layer[k - 1]] + self._gap(layer[k - 1], v) <= at + 0.01
        return left_free and (
            k + 1 == len(layer) or at + self._gap(v, layer[k + 1]) <= x[layer[k + 1]] + 0.01
        )

    def _gap(self, a: int, b: int) -> float:
        """The least distance of two neighbours' axes."""
        both_joints = a >= self.boxes and b >= self.boxes
        between = SIDE_GAP / 3 if both_joints else SIDE_GAP
        return self.sizes[a].right + between + self.sizes[b].left

    def _place(
        self, layer: list[int], x: list[float], wanted: list[float], spine: list[bool]
    ) -> None:
        """The places nearest to the wanted ones that keep order and distance.

        Least squares under `place[k] + gap <= place[k+1]`: isotonic regression, solved by pooling
        neighbours that would overlap (Ayer et al., 1955).
        """
        offset, total = [0.0], 0.0
        for a, b in itertools.pairwise(layer):
            total += self._gap(a, b)
            offset.append(total)
        pools: list[tuple[float, float, int]] = []  # mean, weight, how many
        for k, v in enumerate(layer):
            mean, many = wanted[k] - offset[k], 1
            weight = 100.0 if spine[v] else 1.0 if v < self.boxes else 0.1
            while pools and pools[-1][0] > mean:
                left, heavy, more = pools.pop()
                mean = (left * heavy + mean * weight) / (heavy + weight)
                weight, many = weight + heavy, many + more
            pools.append((mean, weight, many))
        spread = [mean for mean, _, many in pools for _ in range(many)]
        for k, v in enumerate(layer):
            x[v] = spread[k] + offset[k]


def _line(
    net: _Net,
    chain: list[int],
    end: float,
    x: list[float],
    middle: list[float],
    heights: list[tuple[float, float]],
) -> list[tuple[float, float]]:
    """From under the first box, straight through each joint's rank, to its port on the last."""
    first, *joints, last = chain
    points = [(x[first], middle[net.rank[first]] + net.sizes[first].height / 2)]
    for v in joints:
        (up, down), y = heights[net.rank[v]], middle[net.rank[v]]
        points += [(x[v], y - up), (x[v], y + down)]
    points.append((end, middle[net.rank[last]] - net.sizes[last].height / 2))
    return points


def _ports(net: _Net, x: list[float]) -> list[float]:
    """Where each line arrives: side by side with the others, in the order in which they come. A
    box that reads a value twice has two lines from it, as `mul(%0, %0)`."""
    ports = [0.0] * len(net.chains)
    arriving: dict[int, list[int]] = {}  # lines, by the box where they end
    for line, chain in enumerate(net.chains):
        arriving.setdefault(chain[-1], []).append(line)
    for v, lines in arriving.items():
        lines.sort(key=lambda line: (x[net.chains[line][-2]], net.chains[line][-2]))
        for line, place in zip(lines, side_by_side(len(lines), net.sizes[v]), strict=True):
            ports[line] = x[v] + place
    return ports


def side_by_side(count: int, size: Size) -> list[float]:
    """The places of so many arriving lines, to the left and right of the box's axis."""
    step = min(14.0, 2 * size.right / (count + 1))
    return [(place - (count - 1) / 2) * step for place in range(count)]
