"""The units, a folder each: checks and answers (shipped), hidden and mutants (never).

checks     visible checks; students have this file, so it holds no answer
answers    exercises that are no function of the library; they ship without their bodies
hidden     the same checks with other seeds and larger programs, and answers with one value
mutants    wrong answers that the checks must reject, right ones that they must accept

Each is a file or a folder of files; `check/framework.py: load_unit` imports all of it. No unit
imports another one. Next room: u00, the smallest; docs/authoring.md, how to write one.
"""
