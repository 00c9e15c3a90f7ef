"""What makes `tvm_log.txt` again. TVM is imported when that is asked for, and not before.

    python -m course_lib record tvm_log         searches schedules for both models anew

A search goes by the clock: two of them end differently, and each is right. Next room: `jax.py`.
"""

from __future__ import annotations

from course_lib.maker import maker

TRIALS = {"mlp": 64, "block": 128}  # by model of the course


@maker("apache-tvm", "tvm", "onnx", compared="names of texts", seconds=1200)
def schedules() -> dict[str, str]:
    """The best schedule of each kernel of these models."""
    from tvm.s_tir.meta_schedule.database import MemoryDatabase

    from course_lib.peers.tvm_search import searched, texts_of

    best = MemoryDatabase()
    for name, trials in TRIALS.items():
        for found in searched(name, trials).get_all_tuning_records():
            best.commit_tuning_record(found)
    return texts_of(best)
