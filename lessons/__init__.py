"""What the notebooks show beside the compiler: one folder for each unit.

    from lessons.u07.products import miss_table      # in notebooks/u07_tiling.md

Programs to look at, tables, pictures, the same job in other compilers, and what those said on some
day (`recorded.py`). A file here may use all of `course_lib`; it knows no exercise and no check, so
it ships whole, and whoever reads a notebook can read it. `bill.py` is the table at the end of each
unit. Exercises, checks and wrong answers stand in `autograder/units/uNN`.
"""
