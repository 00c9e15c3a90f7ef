"""Our chip as a backend of TVM (BYOC, "bring your own codegen"; Chen et al. 2021), in Relax.

package.py    tvm, imported when it is needed        write.py      our graph as Relax
read.py       Relax as our graph                     read_ops.py   its ops, one row for each
patterns.py   the chip's table as TVM's patterns     partition.py  annotate, merge to regions
codegen.py    regions become programs                door.py       compile, run, report
models.py     PyTorch and ONNX models, as TVM reads them

Next room: `package.py`.
"""
