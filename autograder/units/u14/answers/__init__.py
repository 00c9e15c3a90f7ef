"""Unit 14, Plug into real compilers: its exercises.

The bodies are our answers and never ship; the files beside them also have the notebook's material.
Next room: annotate.py.
"""

from autograder.units.u14.answers.annotate import rows as rows
from autograder.units.u14.answers.offload import chosen as chosen
from autograder.units.u14.answers.port import least as least
from autograder.units.u14.answers.regions import deadlock as deadlock
from autograder.units.u14.answers.regions import merged as merged
from autograder.units.u14.answers.words import more as more
