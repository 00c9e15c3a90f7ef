"""A clean root in which the steps of Binder's image run, with the packages that are here.

    root = BinderRoot(repository, folder)
    root.run("./binder/postBuild")         -> what it printed; AssertionError if it fails

Bubblewrap shows the Debian files of this machine and Python, read-only; a home of its own, into
which git's files are copied and nothing else; and an environment whose packages are links to those
installed here, in place of the download. There is no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy

HOME, PREFIX = "/home/jovyan", "/srv/conda/envs/notebook"  # as in the image of repo2docker
OURS = "course_lib"  # an installed copy of the course itself is no part of the image
ETC = ("ld.so.cache", "fonts", "ssl", "alternatives", "localtime", "mime.types")
PACKAGES = Path(numpy.__file__).resolve().parents[1]
BESIDE = PACKAGES.parents[2]  # bin, share and etc of the same environment


class BinderRoot:
    def __init__(self, repository: Path, folder: Path) -> None:
        self.home, self.prefix = folder / "home", folder / "prefix"
        copy_as_git_gives_it(repository, self.home)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.prefix], check=True)
        _link_packages(next(self.prefix.glob("lib/python*/site-packages")))
        for name in ("share", "etc"):
            (self.prefix / name).symlink_to(BESIDE / name)
        (self.prefix / "bin" / "uv").symlink_to(BESIDE / "bin" / "uv")

    def run(self, *command: str) -> str:
        """Run it there as the user that the image has."""
        done = subprocess.run(
            [*self._bubblewrap(), *command], env=_environment(), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def _bubblewrap(self) -> list[str]:
        args = [
            "bwrap",
            "--unshare-all",
            "--uid",
            "1000",
            "--gid",
            "1000",
            "--die-with-parent",
            "--new-session",
        ]
        args += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]
        for link in map(Path, ("/bin", "/lib", "/lib64", "/sbin")):
            merged = link.is_symlink()  # into /usr, as on any newer Debian
            how = ["--symlink", os.readlink(link)] if merged else ["--ro-bind-try", str(link)]
            args += [*how, str(link)]
        for name in ETC:
            args += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        for place in {sys.base_prefix, str(BESIDE)}:
            args += ["--ro-bind", place, place]
        args += ["--bind", str(self.home), HOME, "--bind", str(self.prefix), PREFIX]
        return [*args, "--chdir", HOME]


def copy_as_git_gives_it(repository: Path, into: Path) -> None:
    """The files that a clone of the working tree would have: nothing that git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (repository / name).exists():  # not if it was removed and not yet committed
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, into / name, follow_symlinks=False)


def _link_packages(site: Path) -> None:
    """A link to each package. What says that one is installed is a folder with links in it, since
    uv believes no link to a folder."""
    for entry in PACKAGES.iterdir():
        if OURS in entry.name:
            continue
        if entry.suffix != ".dist-info":
            (site / entry.name).symlink_to(entry)
            continue
        (site / entry.name).mkdir()
        for file in entry.iterdir():
            (site / entry.name / file.name).symlink_to(file)


def _environment() -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    return ours | {
        "HOME": HOME,
        "NB_PYTHON_PREFIX": PREFIX,
        "PATH": f"{PREFIX}/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "UV_OFFLINE": "1",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
