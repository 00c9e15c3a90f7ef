"""Devices of tinygrad from outside the package: our chips, and our LLVM.

    with session(chip_device(PRESETS["teaching"])) as launches:
        c = Tensor(a).cast("int32") @ Tensor(b).cast("int32")

session.py   tinygrad's settings, in one place            listing.py   a kernel as lines of text
render.py    from tinygrad's operations to lines          scalars.py   what one line computes
interp.py    what the lines mean, all lanes at once       cores.py     the tensor cores of a chip
device.py    the chips as devices                         text.py      lines as LLVM IR
jit.py       a device that runs them through our LLVM     rules.py     rules from outside
rewriting.py lines of UOps, and rules on them          models.py    ONNX files, by its reader
door.py      a whole model, and the report

Importing tinygrad raises Python's limit of recursion for the whole process; here it is put back.
Next room: `session.py`.
"""

import sys
from importlib.metadata import PackageNotFoundError, version

VERSION = "0.14.0"  # what is used here has no promise of staying as it is
HOW = f"pip install tinygrad=={VERSION}, or 'course-lib[lab]'"

try:
    _found = version("tinygrad")
except PackageNotFoundError:
    raise ImportError(f"the package tinygrad is missing: {HOW}", name="tinygrad") from None
if _found != VERSION:
    raise ImportError(f"tinygrad {_found} is here, {VERSION} is needed: {HOW}", name="tinygrad")

_limit = sys.getrecursionlimit()
import tinygrad.schedule.rangeify  # noqa: E402, F401  the part that raises it

sys.setrecursionlimit(_limit)
