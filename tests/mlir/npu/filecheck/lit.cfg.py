# How lit runs the tests of this folder:  lit tests/mlir/npu/filecheck
# pyright: reportUndefinedVariable=false
# ruff: noqa: F821   (lit defines config and lit_config)
import os
import sys

import lit.formats

config.name = "NPU"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params.get("out", config.test_source_root)

root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))
config.environment["PYTHONPATH"] = root
filecheck = lit_config.params.get("filecheck", f"{sys.executable} -m filecheck")
config.substitutions += [
    ("%npu", f"{sys.executable} -m course_lib npu"),
    ("%filecheck", filecheck),
]
