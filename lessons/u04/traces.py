"""What an allocator is asked for: requests in the order in which they come.

    requests_of(lives)      # of one of our programs: each value when its step begins, and back when
                            # its last reader is done
    EAGER                   # of PyTorch in eager mode, for one image through ResNet-18

A request is (name, bytes): more than 0 asks for so many bytes, fewer gives those of that name back.
Next room: autograder/units/u04/checks/allocator.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.memory.liveness import Interval, aligned
from course_lib.recorded import recorded

Request = tuple[str, int]


def requests_of(intervals: Sequence[Interval]) -> list[Request]:
    """What a runtime without a plan would ask for, step by step."""
    asked = sorted(intervals, key=lambda i: i.first)
    ends = sorted(intervals, key=lambda i: i.last)
    requests: list[Request] = []
    for interval in asked:
        while ends and ends[0].last < interval.first:
            done = ends.pop(0)
            requests.append((done.name, -done.size))
        requests.append((interval.name, interval.size))
    return [*requests, *((done.name, -done.size) for done in ends)]


def most_alive(requests: Sequence[Request]) -> int:
    """The most bytes that are asked for and not given back, at any time."""
    alive = most = 0
    for _, size in requests:
        alive += size
        most = max(most, alive)
    return most


def highest(requests: Sequence[Request], offsets: dict[str, int]) -> int:
    """The end of the highest bytes that anybody got."""
    return max((offsets[name] + size for name, size in requests if size > 0), default=0)


def _requests(text: str) -> list[Request]:
    size: dict[str, int] = {}
    requests: list[Request] = []
    for word in text.split():
        name, _, asked = word[1:].partition(":")
        size.setdefault(name, aligned(int(asked or 0)))
        requests.append((f"v{name}", size[name] if word[0] == "+" else -size[name]))
    return requests


# How often filters are copied depends on the processor. Sizes are rounded up to 64 bytes.
BY_TORCH = recorded(__file__, "eager.txt")
EAGER: list[Request] = _requests(BY_TORCH["resnet18"])
