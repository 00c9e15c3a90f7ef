"""Plain data as bytes, and back: all that crosses between the student's process and the grader's.

    encode({"x": np.float32([1, 2]), "graph": g})  ->  b"..."  ->  decode(...)

| value                                   | on the wire                                         |
|-----------------------------------------|-----------------------------------------------------|
| None, bool, int, float, str             | JSON (nan and inf by name)                          |
| Fraction                                | numerator and denominator                           |
| list, tuple, set, frozenset, dict       | JSON, tagged; range, deque, d.values() as lists     |
| numpy array, numpy scalar               | bytes, with dtype and shape; of text: as lists      |
| Node, Graph                             | one row per node; what the other end has, by number |
| TensorType, DType, Sym                  | their text                                          |
| a record: a dataclass of `RECORDS`      | the name of its class, and its fields               |
| an onnx.ModelProto                      | its own bytes, with all weights inside; by number   |
| a function (grader to student only)     | a number; calling it there calls it here            |
| one of `named.both_have`, likewise      | its name                                            |

Never pickle. What comes from a student's process is hostile: decoding makes values of these types
and nothing else, nodes by the op table; graphs are verified, sizes checked before any allocation.

Both ends number the nodes, graphs and models of a call in the order in which they cross. So a node
that comes back is the very node that went out, and `is` means what it means inside one process.

Next room: grading/worker.py and grading/sandbox.py, the two ends of the pipe.
"""

from __future__ import annotations

from typing import Any

from autograder.wire.crossed import Crossed
from autograder.wire.onnx import Unsendable
from autograder.wire.reading import Reader
from autograder.wire.writing import Writer

MAX_SHOWN = 500  # characters of what is said about a refused message


class Codec(Crossed):
    """One end of a conversation."""

    def encode(self, value: Any) -> bytes:
        """A message; Unsendable, and nothing has crossed, if the value is not plain data."""
        mark = self.mark()
        try:
            return Writer(self).message(value)
        except Exception as error:  # a student can put anything anywhere
            self.forget(mark)
            text = str(error) if isinstance(error, Unsendable) else f"It is not plain data: {error}"
            raise Unsendable(text[:MAX_SHOWN]) from None

    def decode(self, data: bytes) -> Any:
        """What a message says; Unsendable, and nothing has crossed, if it is none of ours."""
        mark = self.mark()
        try:
            return Reader(self, memoryview(data)).message()
        except Unsendable:
            self.forget(mark)
            raise
        except Exception as error:  # hostile bytes can fail anywhere
            self.forget(mark)
            raise Unsendable(f"{error!s:.{MAX_SHOWN}}") from None
