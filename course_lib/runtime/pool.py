"""Threads for parallel loops.

    run_parallel(kernel, args, iterations=32, threads=2)     // 0..16 here, 16..32 on a helper

A compiled kernel runs without Python's lock, so plain threads are enough. Waking one costs tens of
microseconds: the executable asks for help only where a kernel has more to do than that. Next room:
`report.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

_pool: ThreadPoolExecutor | None = None
_owner = 0  # the process that made the pool: threads do not survive a fork


def run_parallel(
    kernel: Callable[..., int | None], args: Sequence[int], iterations: int, threads: int
) -> bool:
    """Run iterations 0 .. `iterations`, split evenly among `threads` threads, this one included.

    True if the kernel returned something other than 0, on whichever thread.
    """
    parts = min(threads, iterations)
    if parts <= 1:
        return bool(kernel(*args, 0, iterations))
    edges = [iterations * k // parts for k in range(parts + 1)]
    pool = _threads(threads)
    others = [pool.submit(kernel, *args, edges[k], edges[k + 1]) for k in range(1, parts)]
    try:
        said = [kernel(*args, edges[0], edges[1])]
    finally:  # after ctrl-C too: nobody may touch the buffers while a helper still writes
        rest = [other.result() for other in others]
    return any(said + rest)


def _threads(count: int) -> ThreadPoolExecutor:
    global _pool, _owner
    if _pool is None or _owner != os.getpid() or _pool._max_workers < count - 1:
        _pool, _owner = ThreadPoolExecutor(max(1, count - 1), "kernel"), os.getpid()
    return _pool
