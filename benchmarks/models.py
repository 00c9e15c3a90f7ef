"""The course's compiler beside other systems, on the course's four models.

    make bench            (or: python benchmarks/models.py --threads 1 --model resnet18)

All of them run the same weights on the same input, each in a process of its own, and have to be
right. Ours stands there twice where 3x3 convolutions gain by Winograd's F(2x2,3x3): without, which
is the default, and with it. torch.compile has the weights as constants (`freezing`).
"""

from __future__ import annotations

from measuring import finish, left_out_of, options, progress, rows_of, thread_counts

from course_lib.models import MODELS
from course_lib.peers.contest import contest
from course_lib.peers.model import model_of

SYSTEMS = ("course", "course+winograd", "torch-eager", "torch.compile+freezing", "onnxruntime",
           "openvino", "mnn")  # fmt: skip


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=MODELS, action="append", help="only this one")
    asked = parser.parse_args()
    names, found = asked.model or list(MODELS), []
    with progress(names) as at:
        for name in names:
            found.append(contest(model_of(name), SYSTEMS, thread_counts(asked.threads),
                                 asked.rounds, asked.seconds, at(name)))  # fmt: skip
            if found[-1].interrupted:
                break
    rows = [row for one in found for row in rows_of(one, "model")]
    finish(rows, "model", left_out_of(found), asked)


if __name__ == "__main__":
    main()
