"""The dialect as ODS and C++: it reads, verifies and prints what the one in Python does."""

import re
import subprocess
from io import StringIO

import numpy as np
import pytest

pytest.importorskip("xdsl")

from xdsl.dialects.affine import ApplyOp
from xdsl.printer import Printer

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.module import read, verify, written
from course_lib.mlir.npu.npu_interp import interpret, pipeline, product
from course_lib.mlir.npu.ods import build as building
from course_lib.mlir.npu.ods.build import build, opt
from course_lib.mlir.npu.ods.forms import OPS, forms, lines, page, table
from course_lib.mlir.npu.stages import STAGES, compile_npu

SMALL = Chip("npu", 4, 3, weights=192, acts=192, accs=16, params=6, banks=(2, 4, 2),
             dma_bytes=4, dma_latency=7, queue=3)  # fmt: skip
NAMES = ("linalg", *STAGES)
BETWEEN = "\n// -----\n"  # modules of one text; so one process reads them all


def generic(module):
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(module)
    return out.getvalue()


def alike(text):
    """The operations of the dialect as they are printed, values numbered as they are defined,
    attributes in the order of their names: the two printers choose both for themselves."""
    number, found, count = {}, [], 0
    for line in text.split("\n"):
        many = "func.func" in line or line.lstrip().startswith("^bb")
        defined = re.findall(r"%\w+" if many else r"^ *(%\w+) =|affine.for (%\w+) =", line)
        for names in defined:
            number["".join(names)] = f"%{(count := count + 1)}"
        if re.match(r' *(%\w+ = )?"?npu\.', line):
            line = re.sub(r"%\w+", lambda value: number[value[0]], line.strip())
            found.append(re.sub(r"\{(\w.*?)\}", lambda a: _sorted(a[1]), line))
    return found


def _sorted(attributes):
    return "{" + ", ".join(sorted(re.split(r", (?=\w+ =|overwrite)", attributes))) + "}"


def equal(theirs, ours):
    """The same module. MLIR simplifies the maps that it reads, ((i floordiv 7) * 8 + j) mod 4 to
    j mod 4: what differs in its text has to have the same values."""
    for their, our in zip(theirs.walk(), ours.walk(), strict=True):
        if isinstance(their, ApplyOp) and isinstance(our, ApplyOp) and their.map != our.map:
            for point in np.ndindex(*[40] * our.map.data.num_dims):
                assert their.map.data.eval(point, []) == our.map.data.eval(point, [])
            their.properties["map"] = our.map
    return theirs.is_structurally_equivalent(ours)


PRODUCTS = [
    ("teaching", 9, 8, 5, {}), ("teaching", 17, 33, 9, {"pipeline": False}),
    ("npu", 70, 100, 40, {"low": 0}), ("scalesim", 40, 70, 50, {}),
    ("rtl", 13, 30, 15, {"low": 0, "high": 100}), (SMALL, 7, 9, 8, {}),
]  # fmt: skip


@pytest.mark.parametrize("chip, m, k, n, how", PRODUCTS)
def test_every_stage_is_read_and_printed_by_both(plugin, chip, m, k, n, how):
    chip = PRESETS.get(chip, chip)
    compiled = compile_npu(linalg_text(m, k, n, **how), chip)
    modules = [compiled.modules[stage] for stage in NAMES]
    for form, options in ((written, ()), (generic, ("--mlir-print-op-generic",))):
        ours = [form(module) for module in modules]
        theirs = opt(plugin, BETWEEN.join(ours), "--split-input-file", *options).split(BETWEEN)
        for stage, our, their, module in zip(NAMES, ours, theirs, modules, strict=True):
            assert equal(verify(read(their)), module), stage
            assert alike(their) == alike(our), stage
            assert (stage == "linalg") == (alike(our) == [])


def test_a_text_that_differs_is_seen(plugin):
    """That the two checks above can fail."""
    module = compile_npu(linalg_text(9, 8, 5), PRESETS["teaching"]).modules["tile"]
    text = written(module)
    theirs = opt(plugin, text.replace("high = 127", "high = 126"))
    assert not read(theirs).is_structurally_equivalent(module)
    assert alike(theirs) != alike(text)


SUMS = "memref<4x4xi32, #npu.space<accs>>"
SLOTS = "memref<2x4x4xi32, #npu.space<accs>>"
ADD = f"""module attributes {{npu.chip = {{preset = "teaching"}}}} {{
  func.func @f(%x: memref<4x4xi8, #npu.space<acts>>, %w: memref<4x4xi8, #npu.space<weights>>,
               %i: index, %t: {SUMS}, %y: memref<4x4xi32, #npu.space<dram>>) {{
    %ss = npu.buffer : {SLOTS}
    %s = npu.slot %ss[0] [4, 4] : {SLOTS} to {SUMS}
    %other = npu.slot %ss[1] [4, 4] : {SLOTS} to {SUMS}
    %same = npu.slot %ss[0] [4, 4] : {SLOTS} to {SUMS}
    %any = npu.slot %ss[%i] [4, 4] : {SLOTS} to {SUMS}
    npu.clear %s : {SUMS}
    BETWEEN
    npu.matmul %x, %w into %s : memref<4x4xi8, #npu.space<acts>>,
               memref<4x4xi8, #npu.space<weights>> into {SUMS}
    return
  }}
}}"""
STORE = f"npu.dma_store %NAME to %y[0, 0] [4, 4] : {SUMS} to memref<4x4xi32, #npu.space<dram>>"


@pytest.mark.parametrize("between, one", [
    ("", True), ("other", True), ("same", False), ("any", False), ("s", False), ("t", False),
])  # fmt: skip
def test_a_product_overwrites_what_was_cleared(plugin, between, one):
    """A canonicalization, which looks past nothing that may see the zeros: here a store of
    %between, where an argument may be any sums."""
    store = STORE.replace("NAME", between) if between else ""
    text = opt(plugin, ADD.replace("BETWEEN", store), "--canonicalize")
    assert ("{overwrite}" in text) == one
    assert text.count("npu.clear") == (not one)


@pytest.mark.parametrize("name, m, k, n, clears", [
    ("teaching", 17, 33, 9, 6), ("npu", 17, 33, 9, 1), ("npu", 100, 300, 70, 3),
])  # fmt: skip
def test_canonicalization_is_the_pass_of_sums(plugin, name, m, k, n, clears):
    """The same module as behind `overwrite` in Python."""
    text, chip = linalg_text(m, k, n), PRESETS[name]
    before = compile_npu(text, chip, until="sums", without=["overwrite"]).text("sums")
    after = compile_npu(text, chip, until="sums").modules["sums"]
    assert before.count("npu.clear") == clears
    assert read(opt(plugin, before, "--canonicalize")).is_structurally_equivalent(after)


def test_canonicalization_keeps_the_meaning(plugin):
    """In loops, too, with all else that MLIR does there."""
    make = np.random.default_rng(0)
    x, w = (make.integers(-128, 128, size, np.int8) for size in ((17, 30), (30, 40)))
    bias = make.integers(-5000, 5000, 40, np.int32)
    scale = (make.random(40) / 300).astype(np.float32)
    compiled = compile_npu(linalg_text(17, 30, 40), PRESETS["npu"])
    made = opt(plugin, compiled.text("tile"), "--canonicalize", "--cse")
    assert compiled.text("tile").count("npu.clear") == made.count("{overwrite}") == 1
    arrays = compiled.arrays(x, w, bias, scale)
    interpret(verify(read(made)), arrays)
    assert np.array_equal(arrays[-1], pipeline(product(x, w), bias, scale, -128, 127))


def test_effects_are_what_operations_do(plugin):
    """MLIR's own test pass reports what each operation says that it reads and writes."""
    text = compile_npu(linalg_text(3, 4, 4), PRESETS["teaching"]).text("ahead")
    command = ["mlir-opt-22", f"--load-dialect-plugin={plugin}", "--test-side-effects"]
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    said: dict[str, list[str]] = {}
    for line, word in re.findall(
        r"^<stdin>:(\d+):\d+: remark: .*?'(\w+)'|^<stdin>:(?:\d+):\d+: "
        r"remark: operation has no memory effects",
        done.stderr,
        re.M,
    ):
        if line:
            (name,) = re.findall(r"npu\.\w+", text.split("\n")[int(line) - 1])[:1]
            said.setdefault(name, []).append(word)
    assert sorted(said.pop("npu.matmul")) == ["read", "read", "write"]  # it overwrites
    assert set(said.pop("npu.buffer")) == {"allocate"}
    assert sorted(said.pop("npu.activate")) == ["read", "read", "write"]
    for name in ("npu.dma_load", "npu.dma_store"):
        assert set(said.pop(name)) == {"read", "write"}
    assert said == {} and "npu.slot" in text  # a slot is only a view


def test_general_passes_may_use_the_effects(plugin):
    """Equal slots become one; buffers do not, but one that nobody uses goes."""
    kind = "memref<2x4x4xi8, #npu.space<acts>>"
    tile = "memref<4x4xi8, #npu.space<acts>>"
    array = "memref<4x4xi8, #npu.space<dram>>"
    text = f"""func.func @f(%x: {array}) {{
      %a = npu.buffer : {kind}
      %b = npu.buffer : {kind}
      %c = npu.buffer : {kind}
      %s = npu.slot %a[1] [4, 4] : {kind} to {tile}
      %t = npu.slot %a[1] [4, 4] : {kind} to {tile}
      %u = npu.slot %b[1] [4, 4] : {kind} to {tile}
      npu.dma_load %x[0, 0] [4, 4] to %s : {array} to {tile}
      npu.dma_load %x[0, 0] [4, 4] to %t : {array} to {tile}
      npu.dma_load %x[0, 0] [4, 4] to %u : {array} to {tile}
      return
    }}"""
    made = opt(plugin, text, "--cse", "--canonicalize")
    counts = {name: made.count(f"npu.{name} ") for name in ("buffer", "slot", "dma_load")}
    assert counts == {"buffer": 2, "slot": 2, "dma_load": 3}


# ── how it is made ──


def test_what_was_made_is_kept(plugin, tmp_path, monkeypatch):
    def compiled():
        raise AssertionError("compiled again")

    monkeypatch.setattr(building, "_compiled", compiled)
    assert build(tmp_path).read_bytes() == plugin.read_bytes()


def test_a_missing_tool_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"clang\+\+-22 is not installed: .* and libmlir-22-dev"):
        build(tmp_path)


def test_missing_headers_are_named(plugin, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "output", lambda command: f"{tmp_path}\n")
    with pytest.raises(ValueError, match=r"MLIR's headers are not installed: .* libmlir-22-dev"):
        build(tmp_path)


CLEAR = "npu.clear %s : memref<4x4xi8, #npu.space<acts>>"


def test_what_mlir_refuses_is_said_in_its_words(plugin):
    with pytest.raises(ValueError, match=r"<stdin>:2:3: error: 'npu.clear' op operand #0 must be"):
        opt(
            plugin,
            f"func.func @f(%s: memref<4x4xi8, #npu.space<acts>>) {{\n  {CLEAR}\n  return\n}}",
        )


# ── side by side ──


@pytest.mark.parametrize("name", OPS)
def test_an_operation_has_three_forms(name):
    python, cpp, data = forms(name)
    kind = OPS[name].__name__
    assert f"class {kind}(" in python.declared and "def verify_" not in python.declared
    assert "def verify_(self)" in python.code and "def __init__" not in python.code
    assert cpp.declared.startswith(f"def NPU_{kind} : NPU_Op<") and cpp.declared.endswith("\n}")
    assert name == "clear" or f"LogicalResult {kind}::verify()" in cpp.code
    assert cpp.code.count("{") == cpp.code.count("}")
    assert data.declared.startswith(f"irdl.operation @{name} {{") and data.code == ""
    for form in (python, cpp, data):
        assert form.text in page(name)
        assert 0 < lines(form.declared) <= len(form.declared.split("\n"))


def test_the_table_says_which_language_says_what():
    rows = {row[:21].strip(): row[21:].split() for row in table("clear").split("\n")[1:]}
    assert rows["their memory"] == ["code", "declared", "-"]
    assert rows["effects"] == ["-", "declared", "-"]
    assert rows["lines of code"] == ["2", "0", "0"]


def test_the_command_shows_an_operation(capsys):
    from course_lib.__main__ import main

    assert main(["npu", "--forms", "dma_load"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == page("dma_load")
    assert main(["npu", "--forms", "dma_lord"]) == 1
    assert "there are activate, buffer, clear, dma_load" in capsys.readouterr().err
