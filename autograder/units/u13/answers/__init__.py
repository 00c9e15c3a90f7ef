"""Unit 13, A custom backend: its exercises.

What has to do with the compiler stands in `course_lib/accelerator/compile` (`chip.products`, `chip.ahead`, `chip.tile`,
`chip.dataflow`); the bodies of the exercises here are our answers and never ship. Next room:
autograder/units/u13/checks/__init__.py.
"""
