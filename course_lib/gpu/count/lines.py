"""What one load or store of a warp costs: sectors of global memory, wavefronts of shared memory.

    sectors(address, 4, lanes)       32-byte pieces that the lanes of each warp touch
    wavefronts(address, 4, lanes)    how often the 32 banks have to be asked, one word each

Lanes that want the same sector or word want it together. Eight bytes a lane are asked for in two
halves of the warp, sixteen in four quarters; in half as many where neighbours want the same.
Next room: `counters.py`.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
SECTOR, BANKS, WORD, LANES = 32, 32, 4, 32


def sectors(address: Array, nbytes: int, lanes: Array | None) -> Array:
    """For each warp, how many sectors its lanes touch together. `address` is lanes x warps, or what
    broadcasts to it; `nbytes` are those of one lane."""
    first, lanes = _spread(address, lanes)
    low = first >> 5
    if nbytes <= SECTOR and (SECTOR % nbytes == 0):  # aligned: a lane touches one sector
        return distinct(low, lanes)
    raise ValueError(f"an access of {nbytes} bytes")


def wavefronts(address: Array, nbytes: int, lanes: Array | None, loads: bool = True) -> Array:
    """For each warp, how many passes over the banks it takes to serve its lanes."""
    first, lanes = _spread(address, lanes)
    parts = max(1, nbytes // WORD)  # words of a lane; so many groups of lanes come in turn
    plain = _in_groups(first, parts, LANES // parts, lanes)
    if parts == 1 or not loads:
        return plain
    return np.where(
        paired(first, lanes), _in_groups(first, parts, 2 * LANES // parts, lanes), plain
    )


def paired(address: Array, lanes: Array | None) -> Array:
    """Which warps load the same for all lanes and their neighbours, n and n ^ 1, or for all n and
    n ^ 2? Then half as many passes bring back all words, since what comes back is packed. (An
    engineer of NVIDIA on its forum, "Unexpected shared memory bank conflict"; on an H200, too.)"""
    same = np.zeros(address.shape[1], bool)
    for other in (1, 2):
        partner = np.arange(LANES) ^ other
        equal = address == address[partner]
        if lanes is not None:
            equal = equal | ~lanes | ~lanes[partner]
        same |= equal.all(axis=0)
    return same


def _in_groups(first: Array, parts: int, size: int, lanes: Array | None) -> Array:
    """The passes, if so many lanes at a time are served."""
    total = np.zeros(first.shape[1], np.int64)
    for k in range(0, LANES, size):
        rows = slice(k, k + size)
        words = np.concatenate([(first[rows] >> 2) + w for w in range(parts)])
        takes = None if lanes is None else np.concatenate([lanes[rows]] * parts)
        total += most_in_a_bank(words, takes)
    return total


def _spread(address: Array, lanes: Array | None) -> tuple[Array, Array | None]:
    """The addresses of all lanes. Those that take no part get the address of one that does."""
    if lanes is None:
        return np.broadcast_to(address, (LANES, address.shape[1])), None
    address = np.broadcast_to(address, lanes.shape)
    return address, lanes


def distinct(values: Array, lanes: Array | None) -> Array:
    """How many different values each column has, among those of `lanes`."""
    if lanes is not None:
        some = lanes.any(axis=0)
        fill = np.where(lanes, values, np.iinfo(values.dtype).min).max(axis=0)
        values = np.where(lanes, values, fill)  # one that is there already
        return np.where(some, distinct(values, None), 0)
    low = values.min(axis=0)
    away = values - low
    if away.max(initial=0) < 64:
        bits = np.left_shift(np.uint64(1), away.astype(np.uint64))
        return np.bitwise_count(np.bitwise_or.reduce(bits, axis=0)).astype(np.int64)
    ordered = np.sort(values, axis=0)
    return 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)


def most_in_a_bank(words: Array, lanes: Array | None) -> Array:
    """For each column, the largest number of different words that lie in one bank."""
    count = words.shape[1]
    some = np.ones(count, bool) if lanes is None else lanes.any(axis=0)
    if lanes is not None:
        fill = np.where(lanes, words, -1).max(axis=0)
        words = np.where(lanes, words, fill)
    away = words - (words.min(axis=0) & -BANKS)  # from where bank 0 begins
    if count > 1 and (away == away[:, :1]).all():
        return np.where(some, _most_in_a_bank(away[:, :1]), 0)
    return np.where(some, _most_in_a_bank(away), 0)


def _most_in_a_bank(words: Array) -> Array:
    ordered = np.sort(words, axis=0)
    new = np.ones(ordered.shape, bool)
    new[1:] = ordered[1:] != ordered[:-1]
    column = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    key = (column * BANKS + (ordered & (BANKS - 1)))[new]
    return np.bincount(key, minlength=BANKS * words.shape[1]).reshape(-1, BANKS).max(axis=1)
