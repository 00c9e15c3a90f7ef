"""Devices of tinygrad from outside the package: our chips, and our LLVM.

    with session(chip_device(PRESETS["teaching"])) as launches:
        c = Tensor(a).cast("int32") @ Tensor(b).cast("int32")

session.py   tinygrad's settings, in one place            listing.py   a kernel as lines of text
render.py    from tinygrad's operations to lines          scalars.py   what one line computes
uop_interp.py   what the lines mean, all lanes at once    cores.py     the tensor cores of a chip
device.py    the chips as devices                         text.py      lines as LLVM IR
jit.py       a device that runs them through our LLVM     rules.py     rules from outside
models.py    an ONNX file through tinygrad's own reader   door.py      a whole model, and the report

Next room: `session.py`.
"""

import course_lib.plugins.pin  # noqa: F401  the version, before anything else is imported
