"""Our chip, and our compiler, as a part of other compilers.

torch/       a backend of torch.compile, which needs no chip

The others are doors to the chip: one description of it, and a door for each compiler.

report.py    what every door says of a model: offloaded, clocks, bytes, refused and why
ours.py      the door of our own partitioner, which the others are compared with
staged.py    values between kernels as text: the words in which an exercise gives tinygrad a rule
rewriting.py the same lines as tinygrad's operations, and rules on them
narrow.py    the rule: whole numbers that fit are stored in 8 bits
pin.py       the version of tinygrad that all of this knows
tinygrad/    a device of tinygrad, its tensor cores, and a device that hands kernels to LLVM
byoc/        as much of TVM as a backend is plugged into, for where TVM is not installed
tvm/         a backend of TVM: its patterns, regions of a model, a program for each

What the chip can do is said once, in `course_lib/accelerator/compile/`, and every door reads it
there: which ops (the patterns of `support.py`; a tile of the array in `unit.py`), of which shapes
(`refuse` of a pattern, `layer.refused` for one chip), in which layout (`product.py`, `as_stored` in
`layer.py`), at which cost (`estimate.bound`, `search.clocks`). Next room: `report.py`.
"""
