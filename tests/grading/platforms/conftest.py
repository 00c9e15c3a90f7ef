"""A machine with nothing of ours on it, made by bubblewrap, and notebooks for unit 0.

root = clean_root(tmp_path, caps=DOCKER)
root.run("bash", "/autograder/source/setup.sh")
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

PACKAGES = Path(np.__file__).resolve().parents[1]
VENV = PACKAGES.parents[2]
# What root may do in a container that Docker starts without being told otherwise.
DOCKER = (
    *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP"),
    *("NET_BIND_SERVICE", "NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP"),
)
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache",
          "/etc/alternatives", "/etc/passwd", "/etc/group")  # fmt: skip


@dataclass
class Root:
    """System folders, Python and its packages, read-only; `folders` of its own, writable. There is
    no project, no home and no network."""

    folder: Path
    caps: tuple[str, ...] = ("ALL",)
    folders: tuple[str, ...] = ("/autograder", "/opt")
    stubs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.folders:
            self.at(name).mkdir(parents=True)
        for name, text in self.stubs.items():
            stub = self.folder / "stubs" / name
            stub.parent.mkdir(exist_ok=True)
            stub.write_text(f"#!/bin/bash\n{text}\n")
            stub.chmod(0o755)

    def at(self, name: str) -> Path:
        """Where a path of the new root lies out here."""
        return self.folder / name.lstrip("/")

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        bwrap = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        bwrap += ["--die-with-parent", "--cap-drop", "ALL"]
        bwrap += [part for cap in self.caps for part in ("--cap-add", _cap(cap))]
        bwrap += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"]
        for place in SYSTEM:
            if os.path.islink(place):
                bwrap += ["--symlink", os.readlink(place), place]
            elif os.path.exists(place):
                bwrap += ["--ro-bind", place, place]
        for name in self.folders:
            bwrap += ["--bind", str(self.at(name)), name]
        for place in (Path(sys.base_prefix), VENV):
            for outer in reversed(place.parents[:-1]):  # any user may go through
                bwrap += ["--perms", "0755", "--dir", str(outer)]
            bwrap += ["--ro-bind", str(place), str(place)]
        if self.stubs:
            bwrap += ["--ro-bind", str(self.folder / "stubs"), "/stubs"]
        seen = {"PATH": "/stubs:/usr/bin:/bin", "HOME": "/nowhere", "LANG": "C.UTF-8", **variables}
        return subprocess.run(
            [*bwrap, "--chdir", "/autograder", *command],
            env=seen, capture_output=True, text=True, check=False,
        )  # fmt: skip


def _cap(name: str) -> str:
    return name if name == "ALL" else f"CAP_{name}"


@pytest.fixture(scope="session")
def clean_root() -> Callable[..., Root]:
    """clean_root(folder, caps=DOCKER, stubs={"apt-get": "true"})"""
    if os.getuid() != 0 or not shutil.which("bwrap"):
        pytest.skip("only root can make a root for root, with bubblewrap")
    return Root
