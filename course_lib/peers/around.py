"""The machine on which it was measured: what it is, and what else it did at that time.

    machine()          ->   {"processor": "AMD EPYC 9B14", "processors": 2, "python": "3.11.2", ...}
    watch = Watch([0, 1])
    watch.others(spent=3.2)   ->   0.11      of these processors' time went to other processes

Next room: `witness.py`.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BUSY = 0.05  # of the time: above it, the machine is called busy
GOVERNOR = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
IDLE = (3, 4)  # the columns of /proc/stat in which nothing ran


def machine() -> dict[str, Any]:
    """What it is, as far as the system says it. `load`: processes that wanted to run in the last
    minute, on average."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _named(),
        "processors": len(available()),
        "code_for": _code_for(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "governor": _governor(),
        "load": round(os.getloadavg()[0], 2),
    }


def available() -> list[int]:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pinned(threads: int) -> list[int] | None:
    """The processors for so many threads: the last ones, for much that a system does runs on the
    first. None where a process cannot be kept on some."""
    return available()[-threads:] if hasattr(os, "sched_setaffinity") else None


class Watch:
    """How long these processors have been busy since it was made. Only Linux says so."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.cores = list(cores)
        self.start, self.busy = time.perf_counter(), self._busy()

    def others(self, spent: float) -> float | None:
        """Which share of their time went to other processes, if our own spent so many seconds."""
        if self.busy is None:
            return None
        passed = (time.perf_counter() - self.start) * len(self.cores)
        return min(max(((self._busy() or 0.0) - self.busy - spent) / passed, 0.0), 1.0)

    def _busy(self) -> float | None:
        """Seconds that the processors have worked since the machine was started."""
        try:
            lines = Path("/proc/stat").read_text().splitlines()
        except OSError:
            return None
        names = {f"cpu{core}" for core in self.cores}
        rows = [line.split()[1:9] for line in lines if line.split()[0] in names]
        ticks = sum(int(n) for row in rows for k, n in enumerate(row) if k not in IDLE)
        return ticks / os.sysconf("SC_CLK_TCK")


def spent(process: int) -> float:
    """Seconds that a process has worked, with all of its threads; 0 where the system is silent."""
    with suppress(OSError):
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _named() -> str:
    """The processor by the name that its maker gave it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _code_for() -> str:
    """What our compiler takes it for; empty where it is not installed."""
    if find_spec("llvmlite") is None:
        return ""
    from course_lib.llvm.host import host_machine  # llvmlite is heavy

    host = host_machine()
    return f"{host.name}, vectors of {host.vector_bytes} bytes"


def _governor() -> str:
    """What decides how fast the processors run: "performance" never slows them down. Empty where
    the system does not say."""
    with suppress(OSError):
        return Path(GOVERNOR.format(available()[-1])).read_text().strip()
    return ""
