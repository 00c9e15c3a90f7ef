"""Answers that hang together: pairs that share enough become groups.

    a-b 0.9   b-c 0.8   d-e 0.7      ->      {a, b, c} with a-b shown, {d, e}

Whoever is in a pair with one of a group belongs to it (single linkage), so two of a group may share
less with each other than with the one between them; `closest` is the pair to read first, and of two
that are as close it is the one of this class. Eight people with one answer are one group, not
twenty-eight pairs.

Next room: originality.py, which finds the pairs and shows the groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.grading.book.shapes import Shape

LENGTH = 8  # tokens of a shingle
ELSEWHERE = "another class:\n"  # nobody's name here begins so: names are printable
Shingle = tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two people's answers to one exercise, and the lines that they share, from 1."""

    exercise: str
    students: tuple[str, str]
    sources: tuple[str, str]
    lines: tuple[frozenset[int], frozenset[int]]
    shared: int
    share: float  # of the smaller answer's own shingles

    @property
    def weight(self) -> float:
        """Much of a long answer is more than all of a short one, up to a hundred shingles."""
        return self.share * min(self.shared, 100)


@dataclass(frozen=True)
class Group:
    """Everybody whose answers to one exercise hang together, by name, and the closest pair."""

    exercise: str
    students: tuple[str, ...]
    closest: Pair
    pairs: int


def groups(pairs: Iterable[Pair]) -> list[Group]:
    """The groups of all exercises: that with the closest pair first."""
    by_exercise: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_exercise.setdefault(pair.exercise, []).append(pair)
    found = [group for there in by_exercise.values() for group in _of_one_exercise(there)]
    return sorted(found, key=lambda g: (-g.closest.weight, g.exercise, g.students))


def often(found: Iterable[Group]) -> list[tuple[tuple[str, str], int]]:
    """The closest pairs that come in more than one exercise, and in how many."""
    counts = Counter(tuple(sorted(group.closest.students)) for group in found)
    several = [((one, other), n) for (one, other), n in counts.items() if n > 1]
    return sorted(several, key=lambda item: (-item[1], item[0]))


def shingles(shape: Shape) -> set[Shingle]:
    key = shape.key
    return {key[n : n + LENGTH] for n in range(len(key) - LENGTH + 1)}


def lines_of(shape: Shape, wanted: set[Shingle]) -> frozenset[int]:
    """The lines of the source on which these shingles lie."""
    key = shape.key
    numbers: set[int] = set()
    for n in range(len(key) - LENGTH + 1):
        if key[n : n + LENGTH] in wanted:
            numbers |= {line for _, line in shape.tokens[n : n + LENGTH]}
    return frozenset(numbers)


def _of_one_exercise(pairs: list[Pair]) -> list[Group]:
    """Union and find: everybody points to somebody of the same group, whoever leads to oneself."""
    leader: dict[str, str] = {}

    def lead(student: str) -> str:
        while leader.setdefault(student, student) != student:
            leader[student] = student = leader[leader[student]]
        return student

    for pair in pairs:
        one, other = pair.students
        leader[lead(one)] = lead(other)
    members: dict[str, list[Pair]] = {}
    for pair in pairs:
        members.setdefault(lead(pair.students[0]), []).append(pair)
    return [_group(there) for there in members.values()]


def _group(pairs: list[Pair]) -> Group:
    closest = min(pairs, key=lambda pair: (-pair.weight, _is_elsewhere(pair), pair.students))
    students = sorted({student for pair in pairs for student in pair.students})
    return Group(closest.exercise, tuple(students), closest, len(pairs))


def _is_elsewhere(pair: Pair) -> bool:
    return any(student.startswith(ELSEWHERE) for student in pair.students)
