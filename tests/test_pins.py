"""constraints.txt names a version for every package that an extra brings, also through others.

    sphinx in pyproject.toml  ->  sphinx==9.0.4, babel==..., docutils==... in constraints.txt

A package without a pin would change under a course that is running.
"""

import re
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement


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


def test_every_package_of_every_extra_has_a_pin(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = closure([*project["dependencies"], *(one for each in extras.values() for one in each)])
    lines = (root / "constraints.txt").read_text().splitlines()
    pins = {normal(line.split("==")[0]) for line in lines if line and not line.startswith("#")}
    assert wanted - pins == set()
    assert pins - wanted == {"uv"}, "uv is used by setup_env.py; anything else is not used"
