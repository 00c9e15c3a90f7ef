"""Unit 13, A custom backend: its exercises.

What the compiler runs stands in `course_lib/accelerator/compile`: `chip.products`, `chip.slots`,
`chip.tile`, `chip.dataflow`. The bodies of the exercises here are our answers and never ship. Next
room: words.py.
"""

from autograder.units.u13.answers.roofline import limits as limits
from autograder.units.u13.answers.tokens import mend as mend
from autograder.units.u13.answers.words import decode as decode
from autograder.units.u13.answers.words import encode as encode
from course_lib.accelerator.compile.products import products as products
from course_lib.accelerator.compile.search import choose_dataflow as choose_dataflow
from course_lib.accelerator.compile.search import choose_tile as choose_tile
from course_lib.accelerator.compile.slots import slots as slots
