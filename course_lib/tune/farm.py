"""Measuring on other machines, with Dask: the same request, to as many workers as there are.

    with Farm("10.0.0.1:8786", machine) as measure: ...      a cluster of machines like this one
    with Farm("", machine, jobs=2) as measure: ...           a cluster on this machine

What travels is text and numbers; `course_lib/bridges/cluster.py` says who may send any. A worker of
the cluster has a measuring process of its own (`measure.py`), so that a kernel that crashes takes
down nothing else; a machine of another kind refuses. Next room: `shares.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from course_lib.bridges.cluster import connected
from course_lib.cost.machine import Machine
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.llvm.host import host_machine
from course_lib.schedule.search.problem import Timing
from course_lib.tune.measure import Ask, Worker, dealt, gathered


class Farm:
    """`measure(kernels, machine)` like `Measuring`, on a Dask cluster at this address; without one,
    on a cluster of `jobs` processes here."""

    def __init__(
        self,
        address: str,
        machine: Machine,
        ask: Ask | None = None,
        jobs: int = 1,
        insecure: bool = False,
    ):
        self.ask, self.machine = ask or Ask(), machine
        self.client = connected(address, jobs, insecure)

    def __call__(
        self, kernels: Sequence[Kernel], machine: Machine, ask: Ask | None = None
    ) -> list[Timing]:
        """A `Timing` for each kernel; a worker that is lost is a reason in the place of a time."""
        texts = [print_kernel(kernel) for kernel in kernels]
        addresses = list(self.client.scheduler_info(n_workers=-1)["workers"])
        parts = dealt(texts, len(addresses))
        request = asdict(ask or self.ask)
        futures = [
            self.client.submit(measured, part, machine.threads, request, self.machine.name,
                               pure=False, workers=[address], allow_other_workers=False)
            for part, address in zip(parts, addresses, strict=False)
        ]  # fmt: skip
        return gathered([self._result(f, p) for f, p in zip(futures, parts, strict=True)])

    def _result(self, future: Any, part: Sequence[str]) -> list[Timing]:
        try:
            return [Timing(seconds, why, tuple(rounds)) for seconds, why, rounds in future.result()]
        except ValueError:
            raise
        except Exception as error:  # the worker was lost, with whatever was on it
            return [Timing(None, f"lost on the cluster: {error!r:.200}")] * len(part)

    def close(self) -> None:
        self.client.close()

    def __enter__(self) -> Farm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def measured(
    texts: list[str], threads: int, ask: dict[str, Any], name: str
) -> list[tuple[float | None, str, list[float]]]:
    """The function that travels: plain data in, plain data out."""
    here = host_machine().name
    if here != name:
        raise ValueError(f"a worker of the cluster has another processor: {here}, not {name}")
    with _one_at_a_time:
        if not _workers:
            _workers.append(Worker())
        timings = _workers[0].timings(texts, threads, Ask(**ask))
    return [(t.seconds, t.why, list(t.rounds)) for t in timings]


_workers: list[Worker] = []
_one_at_a_time = threading.Lock()
