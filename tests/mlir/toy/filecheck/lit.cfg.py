# How lit runs the tests of this folder:  lit tests/mlir/toy/filecheck
# pyright: reportUndefinedVariable=false
# ruff: noqa: F821   (lit defines config and lit_config)
import os
import sys

import lit.formats

config.name = "Toy"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".toy", ".mlir"]
config.test_source_root = os.path.dirname(__file__)

root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))
config.test_exec_root = lit_config.params.get("out", os.path.join(root, "build", "lit"))
config.environment["PYTHONPATH"] = root
filecheck = lit_config.params.get("filecheck", f"{sys.executable} -m filecheck")
config.substitutions += [
    ("%toy", f"{sys.executable} -m course_lib toy"),
    ("%filecheck", filecheck),
]
