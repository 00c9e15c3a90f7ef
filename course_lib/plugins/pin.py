"""The one version of tinygrad that the plugins know, or an ImportError that says what to install.

Importing tinygrad raises Python's limit of recursion for the whole process; here it is put back.
Next room: `staged.py`.
"""

import sys
from importlib.metadata import PackageNotFoundError, version

from course_lib.packages import install, need

VERSION = "0.14.0"  # what is used here has no promise of staying as it is
HOW = f"pip install tinygrad=={VERSION}, or {install('tinygrad')}"

try:
    _installed = version("tinygrad")
except PackageNotFoundError:
    raise ImportError(f"the package tinygrad is missing: {HOW}", name="tinygrad") from None
if _installed != VERSION:
    raise ImportError(f"tinygrad {_installed} is here, {VERSION} is needed: {HOW}", name="tinygrad")
need("tinygrad")

_limit = sys.getrecursionlimit()
import tinygrad.schedule.rangeify  # noqa: E402, F401  the part that raises it

sys.setrecursionlimit(_limit)
