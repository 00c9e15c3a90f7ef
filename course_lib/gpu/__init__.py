"""A GPU without a GPU: PTX is read, run thread by thread, and counted as a profiler counts it.

ptx/        text becomes instructions, pieces, registers that live; `merging.py`, what ptxas merges
ops/        what each instruction that computes means, as plain numpy
simt/       warps of 32 threads: memory, barriers, shuffles, atomics, small matrices, the machine
count/      sectors, wavefronts, instructions of each line; races; occupancy, caches, an estimate
recorded/   34 kernels, as CUDA C++ and PTX, and what Nsight Compute counted of each on an H200

Begin with `ptx/types.py`; `simt/machine.py` has `launch`, `recordings.py` what is in `recorded/`.
"""
