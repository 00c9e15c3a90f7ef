"""Our compiler as a backend of torch.compile.

    model = torch.compile(model, backend="course")     # found by its entry point: pyproject.toml
    model(x)                                           # captured, compiled, run
    print(course_lib.plugins.torch.report())           # which ops are ours, which not, and why

backend.py   what torch.compile calls: Dynamo's graph through AOTAutograd to code of ours
settings.py  what `mode=` and `options=` may say
divide.py    which ops of a graph are ours: the regions of them are compiled, PyTorch runs the rest
part.py      one region: its weights are constants while they stay as they are; its sizes
weights.py   whether they are what they were
record.py    what became of each graph, as a report

The ops themselves go through the table of `frontend/torch`, as those of torch.export do. Next room:
`backend.py`.
"""

from course_lib.packages import need

need("torch")  # all files of this room import it

from torch._dynamo import list_backends, register_backend  # noqa: E402

from course_lib.plugins.torch.backend import course  # noqa: E402
from course_lib.plugins.torch.record import report  # noqa: E402

__all__ = ["course", "report"]

if "course" not in list_backends(exclude_tags=()):  # not installed, but run from its folder
    register_backend(course, name="course")
