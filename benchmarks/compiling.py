"""How long the course's compiler takes for an ONNX file, beside other systems.

    make bench            (or: python benchmarks/compiling.py --model resnet18 --threads 1)

"course" compiles a model that was compiled before: machine code is kept on this machine by content,
so it is looked up. "course, the first time" finds nothing kept. Both read the file, run every pass
and arrange the weights anew. The others make what they run of a file once more, in a process that
has done so before: onnxruntime a session, with all of its optimizations on.
"""

from __future__ import annotations

from contextlib import ExitStack

from measuring import finish, left_out_of, options, progress, rows_of, thread_counts

from course_lib.models import MODELS
from course_lib.peers.around import pinned
from course_lib.peers.contest import Contest, Entry, Tell, started
from course_lib.peers.model import Model, model_of
from course_lib.peers.running import Running
from course_lib.peers.witness import witness

SYSTEMS = ("course", "onnxruntime", "openvino", "mnn")
FIRST = "course, the first time"


def compiled(model: Model, threads: int, rounds: int, tell: Tell) -> Contest:
    """Each system compiles the model once in a round, if what it makes is right."""
    found = Contest(model.name, entries=[Entry(name, threads) for name in SYSTEMS])
    with ExitStack() as stack:
        running = list(started(stack, model, found.entries, witness(model), tell))
        first = Entry(FIRST, threads)
        for k in range(rounds):
            tell(f"round {k + 1} of {rounds}")
            for entry, engine in running:
                entry.rounds.append(engine.again())
            with Running(SYSTEMS[0], model, threads, pinned(threads)) as engine:
                first.rounds.append(engine.about["compile_seconds"])
    found.entries.insert(1, first)
    return found


def file(name: str) -> Model:
    """The model as one ONNX file, and inputs for it."""
    model = model_of(name)
    return Model(name, model.onnx, model.inputs)


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=MODELS, action="append", help="default: all four")
    asked = parser.parse_args()
    names, found = asked.model or list(MODELS), []
    with progress(names) as at:
        for name in names:
            for count in thread_counts(asked.threads):
                found.append(compiled(file(name), count, asked.rounds, at(name)))
    rows = [row for one in found for row in rows_of(one, "model")]
    finish(rows, "model", left_out_of(found), asked)


if __name__ == "__main__":
    main()
