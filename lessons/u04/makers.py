"""What makes the recorded requests of PyTorch of unit 4 again. Next room: traces.py."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from course_lib.maker import maker
from course_lib.models import build, example_inputs


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
