"""Changes of our answers to unit 3 that leave them right: equal.txt lists them, and the reasons."""

from __future__ import annotations

from pathlib import Path

from autograder.check.exemplars import in_the_library
from autograder.check.framework import equivalent

# Whatever is legal earns something, and the more it saves the more.
in_the_library("passes.should_fuse", "course_lib.passes.fusion.should_fuse.same_shape",
               because="the stand-in, which the task gives: it saves a part")  # fmt: skip
in_the_library("passes.should_fuse", "autograder.units.u02.checks.signs._passes_on",
               because="a rule about two nodes that happens to hold where it pays")  # fmt: skip

exercise = reason = ""
for line in Path(__file__).with_name("equal.txt").read_text().splitlines():
    text = line.strip()
    if line.startswith("    "):
        old, *changed = text.split(" => ")
        for new in changed:
            equivalent(exercise, old, new, because=reason)
    elif line.startswith("  "):
        reason = text
    elif not line.startswith("#"):
        exercise = text
