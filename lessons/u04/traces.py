"""What an allocator is asked for: requests in the order in which they come.

    requests_of(lives)      # of one of our programs: each value when its step begins, and back when
                            # its last reader is done
    EAGER                   # of PyTorch in eager mode, for one image through ResNet-18

A request is (name, bytes): more than 0 asks for so many bytes, fewer gives those of that name back.
Next room: autograder/units/u04/checks/allocator.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from course_lib.maker import maker
from course_lib.memory.liveness import Interval, aligned
from course_lib.models import build, example_inputs
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


@maker("torch", "torch", compared="names of texts", seconds=5)
def resnet18_in_pytorch() -> dict[str, str]:
    """The allocations of one call, by PyTorch's profiler, on one thread."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.set_num_threads(1)
    model, (x,) = build("resnet18"), map(torch.from_numpy, example_inputs("resnet18"))
    with torch.no_grad():
        model(x)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            model(x)
    results: Any = seen.profiler
    events = _in_tree(results.kineto_results.experimental_event_tree())
    asked = [event for event in events if event.name == "[memory]"]
    names: dict[int, int] = {}  # by address, of what is asked for and not given back
    words = []
    for count, event in enumerate(sorted(asked, key=lambda event: event.start_time_ns)):
        at, size = event.extra_fields.ptr, event.extra_fields.alloc_size
        if size > 0:
            names[at] = count
            words.append((count, f"+{{}}:{size}"))
        else:
            words.append((names.pop(at), "-{}"))
    numbers = {name: k for k, name in enumerate(dict.fromkeys(name for name, _ in words))}
    text = " ".join(word.format(numbers[name]) for name, word in words)
    return {"resnet18": fill(text, 100, break_on_hyphens=False)}


def _in_tree(events: Sequence[Any]) -> list[Any]:
    """The profiler's events, each before those within it."""
    return [one for event in events for one in (event, *_in_tree(event.children))]


# How often filters are copied depends on the processor. Sizes are rounded up to 64 bytes.
BY_TORCH = recorded(__file__, "eager.txt")
EAGER: list[Request] = _requests(BY_TORCH["resnet18"])
