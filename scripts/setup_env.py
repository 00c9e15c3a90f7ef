"""Make the virtual environment that a make target needs; return at once when it is there.

    python3 scripts/setup_env.py --extras torch,llvm,lab
    before: no .venv          after: .venv with numpy, torch, ..., and course_lib itself

It needs the standard library only, and starts on any Python 3.6 so that it can say in words that
this Python is too old. An interrupted set-up is completed by the next call. What pip and uv print
is in setup.log of the environment; on the terminal stands how far they are. Next: the Makefile.
"""

import argparse
import errno
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYPROJECT = os.path.join(ROOT, "pyproject.toml")
PINS = os.path.join(ROOT, "constraints.txt")
OLDEST = (3, 11)
KNOWN_NEWER = ("python3.11", "python3.12", "python3.13", "python3.14")
# What each extra of pyproject.toml needs on the disk, rounded up.
GIGABYTES = {
    "torch": 1.1,
    "llvm": 0.2,
    "lab": 0.4,
    "grade": 0.1,
    "site": 0.1,
    "dev": 0.4,
    "peers": 1.7,
    "cluster": 0.1,
    "hub": 0.1,
    "isl": 0.1,
    "mlir": 0.1,
    "bench": 0.1,
}

LAST = 20  # lines of an installer that failed, on the terminal; setup.log has them all

# What pip and uv print, and which everyday trouble it means.
DISK_FULL = ("No space left on device", "Errno 28", "Disk quota exceeded", "os error 28")
NO_NETWORK = (
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "Connection refused",
    "ConnectTimeoutError",
    "NameResolutionError",
    "ReadTimeoutError",
    "ProxyError",
    "error sending request",
    "Failed to fetch",
)
NO_BUILD = ("No matching distribution found", "Could not find a version", "No solution found")


class SetupError(Exception):
    """Trouble that the person at the keyboard can mend; the message says how."""


def setup_env(venv, extras, torch="auto"):
    """Create or complete `venv` with these extras of pyproject.toml at the pinned versions."""
    stamp = os.path.join(venv, ".ready")
    digest = fingerprint()
    done = read(stamp).split() if os.access(python_of(venv), os.X_OK) else []
    missing = [extra for extra in extras if digest not in done or extra not in done]
    if not missing:
        return
    size = sum(GIGABYTES[extra] for extra in missing)
    say(f"Setting up {venv} for {', '.join(missing)}: once, a few minutes, up to {size:.1f} GB.")
    check_disk(venv, size)
    make_venv(venv)
    pip(venv, "setuptools")
    if "torch" in missing and torch == "auto" and would_bring_cuda(venv):
        install_cpu_torch(venv)
    pip(venv, "--no-build-isolation", "--editable", f"{ROOT}[{','.join(extras)}]")
    say("Compiling the packages, on all cores")
    compile_packages(venv)
    write(stamp, " ".join([digest, *missing, *(done[1:] if digest in done else [])]))
    say(f"{venv} is ready.")


def fingerprint():
    """A digest of what decides which versions belong into the environment."""
    digest = hashlib.sha256()
    for path in (PYPROJECT, PINS):
        with open(path, "rb") as file:
            digest.update(file.read())
    digest.update(ROOT.encode())
    return digest.hexdigest()


def make_venv(venv):
    """Create the environment, or start it afresh where its Python is gone or its folder moved.

    Only an environment inside this folder is ever emptied; another one may be somebody's own.
    """
    filled = os.path.isdir(venv) and os.listdir(venv)
    is_venv = os.path.exists(os.path.join(venv, "pyvenv.cfg"))
    is_ours = read(os.path.join(venv, ".home")) in ("", ROOT)
    usable = is_venv and is_ours and os.access(python_of(venv), os.X_OK)
    inside = os.path.realpath(venv).startswith(os.path.realpath(ROOT) + os.sep)
    if filled and not usable and not (is_venv and inside):
        raise SetupError(
            f"{venv} is not an environment of this copy of the course. Remove it, or choose "
            "another place: make ... VENV=dir"
        )
    if not usable:
        say("Creating the virtual environment")
        command = [sys.executable, "-m", "venv", venv] + (["--clear"] if filled else [])
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            raise SetupError(explain_venv(result.stdout.decode(errors="replace")))
    write(os.path.join(venv, ".home"), ROOT)


def pip(venv, *args):
    """`pip install` with our pins, building nothing; progress is shown, errors are explained.

    Python's bytecode is left to `compile_packages`: pip makes it on one core, which takes longer
    than all else that it does.
    """
    command = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--no-compile", "--only-binary", ":all:", "--constraint", PINS, *args]
    run_watched([python_of(venv), *command], os.path.join(venv, "setup.log"))


def compile_packages(venv):
    """Make the bytecode of all that is installed, without the packages' own tests. What cannot be
    compiled (templates, examples for another Python) is not imported either."""
    (packages,) = glob.glob(os.path.join(venv, "lib", "python*", "site-packages"))
    command = [python_of(venv), "-m", "compileall", "-q", "-j", "0", "-x", r"/tests?/", packages]
    with open(os.path.join(venv, "setup.log"), "ab") as log:
        subprocess.run(command, stdout=log, stderr=log)


def would_bring_cuda(venv):
    """Would pip fetch the build of torch that comes with gigabytes of CUDA libraries?"""
    if not sys.platform.startswith("linux"):
        return False
    command = [python_of(venv), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    command += ["--constraint", PINS, "--dry-run", "--no-deps", "--report", "-", "torch"]
    result = subprocess.run(command, capture_output=True)
    if result.returncode != 0:
        raise SetupError(explain(result.stderr.decode(errors="replace")))
    chosen = json.loads(result.stdout)["install"]
    return any("nvidia" in need for item in chosen for need in item["metadata"]["requires_dist"])


def install_cpu_torch(venv):
    """Take PyTorch's own CPU build instead; uv knows where PyTorch keeps it."""
    say("Taking the CPU build of torch (make ... TORCH=pypi takes the CUDA build)")
    pip(venv, "uv")
    command = ["-m", "uv", "pip", "install", "--python", python_of(venv), "--torch-backend", "cpu"]
    command += ["--constraint", PINS, "torch"]
    run_watched([python_of(venv), *command], os.path.join(venv, "setup.log"))


def run_watched(command, log):
    """Run an installer, its output in `log`, how far it is on the terminal. Raise a SetupError that
    explains a failure, below the last lines that the installer printed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    progress, lines = Progress(), []
    with open(log, "ab") as file:
        for line in process.stdout:
            file.write(line)
            lines.append(line.decode(errors="replace"))
            progress.see(lines[-1])
    progress.end()
    if process.wait() != 0:
        sys.stderr.write("".join(lines[-LAST:]) + f"All that it printed is in {log}.\n")
        raise SetupError(explain("".join(lines)))


class Progress:
    """How far an installer is, in one line that changes; off a terminal, a line now and then."""

    def __init__(self, terminal=None, seconds=15):
        self.terminal = sys.stdout.isatty() if terminal is None else terminal
        self.seconds = seconds
        self.packages, self.shown, self.due = 0, "", time.time() + seconds

    def see(self, line):
        """What pip or uv has printed."""
        word, _, rest = line.strip().partition(" ")
        if word in ("Collecting", "Processing", "Obtaining"):
            self.packages += 1
            self.show(f"packages found: {self.packages}")
        elif word == "Downloading":
            name, _, size = os.path.basename(rest).partition(" ")
            self.show(f"packages found: {self.packages}, downloading {name.split('-')[0]} {size}")
        elif line.startswith("Installing collected packages"):
            self.show(f"installing {rest.count(',') + 1} packages")

    def show(self, words):
        """Over the line before, if this is a terminal."""
        if self.terminal:
            print(f"\r\033[K    {words}"[:100], end="", flush=True)
        elif time.time() >= self.due:
            self.due = time.time() + self.seconds
            print(f"    {words}", flush=True)
        self.shown = words

    def end(self):
        """The line is cleared: what comes next says that it is done, or what went wrong."""
        if self.terminal and self.shown:
            print("\r\033[K", end="", flush=True)


def explain(output):
    """What to do about a failed installation, from what the installer printed."""
    if any(sign in output for sign in DISK_FULL):
        return (
            "The disk is full. Free some space (`make clean` removes what make built here) "
            "and run the same command again; it continues where it stopped."
        )
    if any(sign in output for sign in NO_NETWORK):
        return (
            "The package index cannot be reached. Check the network (and the proxy, if there is "
            "one) and run the same command again; what is already installed stays."
        )
    if any(sign in output for sign in NO_BUILD):
        version = ".".join(str(part) for part in sys.version_info[:2])
        return (
            f"A pinned package has no ready-made build for Python {version} on this machine (its "
            "name is above). Python 3.11 is known to work: make ... PYTHON=python3.11"
        )
    return "pip failed; its own message is above. `make clean` removes .venv for a fresh start."


def explain_venv(output):
    """What to do when `python -m venv` itself failed."""
    if any(sign in output for sign in DISK_FULL):
        return explain(output)
    if "ensurepip" in output:
        return (
            "This Python cannot make virtual environments. On Debian and Ubuntu install the "
            "package python3-venv, then run the same command again."
        )
    return f"Python could not make a virtual environment:\n{output}"


def check_disk(venv, size):
    """Refuse before the first download when the packages cannot fit."""
    disk = os.path.abspath(venv)
    while not os.path.exists(disk):
        disk = os.path.dirname(disk)
    free = shutil.disk_usage(disk).free / 1e9
    if free < size and not os.path.exists(os.path.join(venv, ".home")):
        raise SetupError(
            f"The disk has {free:.1f} GB left; the packages need up to {size:.1f} GB. Free some "
            "space, or keep the environment elsewhere: make ... VENV=/another/disk/venv"
        )


def python_is_new_enough(version=sys.version_info):
    """Does the running Python do? (A parameter, so that a test can ask about any version.)"""
    return tuple(version[:2]) >= OLDEST


def newer_python():
    """The path of a Python on this machine that does, or None."""
    return next(filter(None, map(shutil.which, KNOWN_NEWER)), None)


def python_of(venv):
    return os.path.join(venv, "bin", "python")


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def write(path, text):
    with open(path + ".tmp", "w") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


def say(text):
    print("==> " + text, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Make the virtual environment.")
    parser.add_argument("--venv", default=".venv")
    parser.add_argument("--extras", required=True, type=lambda text: text.split(","))
    parser.add_argument("--torch", choices=["auto", "pypi"], default="auto")
    args = parser.parse_args()
    if not python_is_new_enough():
        better = newer_python()
        if better:
            os.execv(better, [better, *sys.argv])
        have = ".".join(str(part) for part in sys.version_info[:3])
        raise SetupError(
            f"This is Python {have}; the course needs Python 3.11 or newer. Install one, then "
            "run for example: make lab PYTHON=python3.12"
        )
    setup_env(args.venv, args.extras, args.torch)


if __name__ == "__main__":
    try:
        main()
    except SetupError as error:
        sys.exit(f"\n==> {error}")
    except OSError as error:
        sys.exit(f"\n==> {explain(str(error)) if error.errno == errno.ENOSPC else error}")
    except KeyboardInterrupt:
        sys.exit("\n==> Stopped. The same command continues where it stopped.")
