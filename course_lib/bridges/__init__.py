"""Other tools as witnesses: they say what is right, and compute what ours is compared with.

    isl.py       finds the order of the iterations itself
    gxx.py       compiles C++
    icarus.py    runs Verilog
    ptxas.py     assembles PTX, and says how many registers it needs
    steps.py     how far apart two engines are on a model of integers
    cluster.py   the way to other machines, with Dask

Other engines and compilers stand in `peers/`. Next room: `isl.py`.
"""
