"""For each warp a stack of lanes that have to wait: where they go on, and where they meet others.

Next room: `wave.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.gpu.simt.frame import LANES, Array


class Stack:
    """The stacks of all warps as arrays: depth x warps, and depth x lanes x warps."""

    def __init__(self, count: int) -> None:
        self.depth = np.zeros(count, np.int64)
        self.at = np.zeros((4, count), np.int64)
        self.meets = np.zeros((4, count), np.int64)
        self.lanes = np.zeros((4, LANES, count), bool)

    def push(self, warps: Array, at: Array, meets: Array, lanes: Array) -> None:
        """One entry on top of each of these stacks. `lanes` are lanes x warps."""
        depth = self.depth[warps]
        while depth.max(initial=0) >= len(self.at):
            self.at, self.meets, self.lanes = (
                np.concatenate([one, np.zeros_like(one)])
                for one in (self.at, self.meets, self.lanes)
            )
        self.at[depth, warps], self.meets[depth, warps] = at, meets
        self.lanes[depth, :, warps] = lanes.T
        self.depth[warps] = depth + 1

    def pop(self, warps: Array) -> tuple[Array, Array, Array]:
        """The top entries of these stacks, none of which is empty."""
        self.depth[warps] -= 1
        depth = self.depth[warps]
        return self.at[depth, warps], self.meets[depth, warps], self.lanes[depth, :, warps].T.copy()
