"""Passes on, off and in any order, and all that the compiler makes of it: computed beforehand.

    programs.py     a dozen small programs, and the five passes
    explore.py      which graph each of the 326 orders ends in
    kernels.py      a kernel after each step of its schedule: loops, LLVM IR, assembly, PTX, counts
    states.py       all of that for one program, as plain data
    table.py        texts that share most of their lines, packed
    page.py         the widget: markup, style and script, for a website and for a notebook
    playground.py   in a notebook, on the passes that are plugged in

No kernel is needed to look at it: the widget (`widget.js`) only chooses among states. Next room:
`programs.py`.
"""
