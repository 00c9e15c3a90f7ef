"""The process in which onnxruntime runs a model that somebody handed in.

    outside.py                           here
      model, names and arrays     ->
                                  <-     arrays, or what onnxruntime said

Its own optimizations are off: what is asked for is what the model says. Limits are set before the
first model is read. Next room: messages.py, the form of what is said; autograder/check/outside.py,
the other end.
"""

from __future__ import annotations

import sys
from typing import Any

LIMITS = {
    "RLIMIT_AS": 3 << 30,
    "RLIMIT_FSIZE": 0,
    "RLIMIT_NOFILE": 32,
    "RLIMIT_CORE": 0,
}


def _answer(onnxruntime: Any, numpy: Any, head: dict[str, Any], blobs: list[bytes]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(blobs[0], options, providers=["CPUExecutionProvider"])
    arrays = {
        name: numpy.frombuffer(blob, dtype).reshape(shape)
        for (name, dtype, shape), blob in zip(head["inputs"], blobs[1:], strict=True)
    }
    return [numpy.ascontiguousarray(array) for array in session.run(None, arrays)]


def main() -> None:
    uid, folder, packages = sys.argv[1:]
    sys.path[:0] = [folder, packages]
    sys.dont_write_bytecode = True
    import numpy
    import onnxruntime
    from child import lock  # type: ignore[import-not-found]
    from messages import MAX_RESULT, pipes, read, write  # type: ignore[import-not-found]

    source, sink = pipes()
    lock(int(uid), LIMITS)
    while True:
        head, blobs = read(source)
        try:
            arrays = _answer(onnxruntime, numpy, head, blobs)
            if sum(array.nbytes for array in arrays) > MAX_RESULT:
                raise ValueError(f"its results have more than {MAX_RESULT >> 20} MB")
            kinds = [[array.dtype.str, array.shape] for array in arrays]
            parts = [array.tobytes() for array in arrays]
        except Exception as error:  # onnxruntime's own exceptions have no base class but this
            write(sink, {"error": str(error)[:500]})
        else:
            write(sink, {"arrays": kinds}, *parts)


if __name__ == "__main__":
    main()
