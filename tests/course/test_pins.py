"""constraints.txt names a version for every package that an extra brings, also through others.

    sphinx in pyproject.toml  ->  sphinx==9.0.4, babel==..., docutils==... in constraints.txt

A package without a pin would change under a course that is running.
"""

import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from course_lib.packages import PACKAGES
from course_lib.peers.peer import PEERS


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needs(requirements: list[str], extras: set[str]) -> list[Requirement]:
    """The requirements that apply to this machine, with these extras asked for."""
    found = map(Requirement, requirements)
    environments = [{"extra": extra} for extra in extras | {""}]
    return [one for one in found if not one.marker or any(map(one.marker.evaluate, environments))]


def closure(requirements: list[str]) -> set[str]:
    """The names of these packages, of those that they need, and so on."""
    todo, seen = needs(requirements, set()), set()
    while todo:
        one = todo.pop()
        key = (normal(one.name), frozenset(one.extras))
        if key in seen:
            continue
        seen.add(key)
        with suppress(PackageNotFoundError):  # not installed: it can only be missing from the pins
            todo += needs(distribution(one.name).requires or [], one.extras)
    return {name for name, _ in seen}


def extras(root, *names: str) -> set[str]:
    """The packages that these extras of pyproject.toml bring (all extras, without a name)."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    chosen = [one for name in names or optional for one in optional[name]]
    return closure([*project["dependencies"], *chosen])


def test_every_package_of_every_extra_has_a_pin(root):
    lines = (root / "constraints.txt").read_text().splitlines()
    pins = {normal(line.split("==")[0]) for line in lines if line and not line.startswith("#")}
    assert extras(root) - pins == set()
    assert pins - extras(root) == set(), "this is not used"


def test_every_pin_installs_on_the_oldest_python_that_the_course_names(root):
    """soupsieve 4 asked for Python 3.11.5, and Debian 12 has 3.11.2: nothing could be set up."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    for name in extras(root):
        with suppress(PackageNotFoundError):
            needed = str(distribution(name).metadata.json.get("requires_python", ""))
            assert oldest in SpecifierSet(needed), f"{name} needs Python {needed}"


IMPORT_ALL = """
import pkgutil, sys
sys.modules.update(dict.fromkeys({missing!r}))      # importing one of these now raises ImportError
import autograder, course_lib, lessons
for package in (course_lib, autograder, lessons):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.startswith({others!r}):
            __import__(found.name)
            print(found.name)
"""


def systems() -> set[str]:
    """Files of systems that only the extra `peers` installs, imported when one asks for them."""
    rows = [row for row in PEERS.values() if "peers" in {PACKAGES[p].extra for p in row.packages
                                                         if p in PACKAGES}]  # fmt: skip
    return {f"course_lib.peers.{row.file}" for row in rows}


def test_a_learner_needs_no_package_that_make_lab_does_not_install(root):
    installed = extras(root, "torch", "llvm", "lab")
    missing = [
        module
        for module, packages in packages_distributions().items()
        if not installed & set(map(normal, packages))
        and module not in ("course_lib", "autograder", "lessons")
    ]
    assert "nbgrader" in missing and "pytest" in missing
    others = ("autograder.grading.nbgrader", "course_lib.peers.arrays.in_jax", *systems())
    code = IMPORT_ALL.format(missing=missing, others=others)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert {"autograder.check.framework", "course_lib.llvm.jit"} <= set(result.stdout.split())
