"""The units and labs, a folder each: exercises and checks (shipped), hidden and mutants (never).

exercises  those that are no function of the library; they ship without their bodies
checks     visible checks; students have this file, so it holds no answer
hidden     the same checks with other seeds and larger programs, and answers with one value
mutants    wrong answers that the checks must reject, right ones that they must accept

Each is a file or a folder of files; `check/loading.py` imports all of it. No unit imports another
one. What a notebook shows beside its exercises stands in `lessons/uNN`.

Next room: u00, the smallest; docs/authoring.md, how to write one.
"""
