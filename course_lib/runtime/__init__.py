"""What runs a compiled model: executables, their memory, their threads.

executable.py   calls the kernels in order on planned memory
pool.py         shares the iterations of a parallel loop out among threads
report.py       what a model cost, kernel by kernel
"""
