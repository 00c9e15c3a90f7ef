"""Access counts of row-stationary and no-local-reuse equal an enumeration of all products."""

from collections import defaultdict
from itertools import product

import pytest

from course_lib.accelerator.array.access import Access, accesses
from course_lib.accelerator.array.eyeriss import (
    Window,
    no_local_reuse,
    relative_energy,
    row_stationary,
)
from course_lib.accelerator.systolic import SystolicArray


@pytest.mark.parametrize("sizes", [(5, 7, 6), (1, 1, 1), (4, 9, 3), (8, 2, 8)])
def test_no_local_reuse_enumerated(sizes):
    m, k, n = sizes
    array = SystolicArray(3, 4)
    deliveries, chains = set(), defaultdict(int)
    for i, p, j in product(range(m), range(k), range(n)):
        deliveries.add((i, p, j // 4))  # one read of a[i, p] serves a block of columns
        chains[i, p // 3, j] += 1  # the cells through which a partial sum goes
    macs, sums = m * k * n, len(chains)
    found = no_local_reuse(m, k, n, array)
    assert found["a"] == Access(len(deliveries), 0, macs - len(deliveries), 0, 0)
    assert found["b"] == Access(macs, 0, 0, 0, 0)
    hops = sum(length - 1 for length in chains.values())
    assert found["c"] == Access(sums - m * n, sums, hops, macs - sums, macs)


@pytest.mark.parametrize(
    ("window", "rows", "cols"),
    [
        (Window(2, 3, 7, 5, 3, 2), 6, 4),
        (Window(1, 5, 4, 4, 2, 3, stride=2), 5, 3),
        (Window(2, 2, 3, 3, 1, 1, stride=2, images=2), 2, 2),
        (Window(3, 1, 1, 1, 3, 3), 3, 1),
    ],
)
def test_row_stationary_enumerated(window, rows, cols):
    reads, cells, chains = (defaultdict(set) for _ in range(3))
    macs, fit = 0, rows // window.rows
    for plane in product(range(window.images), range(window.filters), range(window.channels)):
        for y, x in product(range(window.height), range(window.width)):
            strip, group = y // cols, plane[2] // fit
            for i, j in product(range(window.rows), range(window.cols)):
                macs += 1
                pixel = (y * window.stride + i, x * window.stride + j)
                reads["a"].add((plane, strip, pixel))
                reads["b"].add((plane, strip, i, j))
                cells["a"].add((plane, y, i, pixel))  # cell (i, y) gets this pixel
                cells["b"].add((plane, y, i, j))
                chains[plane[:2], y, x, group].add((plane[2], i))
    found = row_stationary(window, rows, cols)
    assert macs == window.macs
    for name in "ab":
        latched = len(cells[name])
        expected = Access(len(reads[name]), 0, latched - len(reads[name]), macs, latched)
        assert found[name] == expected, name
    outputs = len({key[:3] for key in chains})
    hops = sum(len(chain) - 1 for chain in chains.values())
    left = len(chains)
    assert found["c"] == Access(left - outputs, left, hops, macs - left, macs)


def test_no_local_reuse_reads_most_weights_and_row_stationary_fewer_pixels():
    """A layer of ResNet-18 as a product, on 12 x 14 cells, the size of Eyeriss."""
    array = SystolicArray(12, 14, dataflow="ws")
    layer = Window(64, 64, 56, 56, 3, 3)
    m, k, n = 56 * 56, 64 * 9, 64
    ours, none, rs = (
        accesses(m, k, n, array), no_local_reuse(m, k, n, array), row_stationary(layer, 12, 14)
    )  # fmt: skip
    assert none["b"].sram_reads == layer.macs > 1000 * ours["b"].sram_reads
    assert sum(x.sram_reads for x in rs.values()) < sum(x.sram_reads for x in none.values()) / 5


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="3 x 1 cells at least, got 2 x 5"):
        row_stationary(Window(1, 1, 4, 4, 3, 3), 2, 5)
    with pytest.raises(ValueError, match="at least 1 of stride, got 0"):
        Window(1, 1, 4, 4, 3, 3, stride=0)


def test_energy_inside_the_array_orders_the_dataflows_as_the_paper_does():
    """A layer of ResNet-18: row-stationary needs least, no local reuse most."""
    window = Window(filters=128, channels=128, height=28, width=28, rows=3, cols=3)
    sizes = 28 * 28, 128 * 9, 128
    found = {"rs": row_stationary(window, 32, 32)}
    found["nlr"] = no_local_reuse(*sizes, SystolicArray(32, 32))
    found |= {d: accesses(*sizes, SystolicArray(32, 32, dataflow=d)) for d in ("os", "ws", "is")}
    costs = {name: relative_energy(each, window.macs) for name, each in found.items()}
    order = sorted(costs, key=lambda name: sum(costs[name].values()))
    assert order == ["rs", "ws", "is", "os", "nlr"]
    one = {"a": Access(1, 2, 3, 4, 5), "b": Access(1, 0, 0, 0, 0), "c": Access(0, 1, 1, 1, 1)}
    assert relative_energy(one, 7) == {
        "multiply-accumulate": 7, "registers": 11, "cell to cell": 2 * 4, "SRAM": 6 * 5,
    }  # fmt: skip
