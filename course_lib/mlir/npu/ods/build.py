"""Make the plugin, and run mlir-opt with it.

    plugin = build(folder)                        # 8 seconds of clang, the first time
    print(opt(plugin, text))                      # as mlir-opt-22 prints the module
    print(opt(plugin, text, "--canonicalize"))    # npu.clear and npu.matmul become one

mlir-tblgen makes C++ of `npu.td`, clang compiles that and ours, and the linker leaves open where
MLIR's own functions are: mlir-opt has them, in the library that it loads (libMLIR). So a plugin
fits one version of MLIR, here Debian's 22. What was made is kept (`course_lib/keep.py`) under the
hash of all that it was made of. Next room: `forms.py`.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from tempfile import TemporaryDirectory

from course_lib.files import write
from course_lib.keep import kept
from course_lib.llvm.inspect.plugin.build import VERSION, output, shared_object, tool
from course_lib.mlir.npu.ods import chips

TOOLS = tuple(f"{name}-{VERSION}" for name in ("clang++", "llvm-config", "mlir-tblgen", "mlir-opt"))
SOURCES = ("machine.cpp", "verify.cpp", "npu.cpp")
GENERATED = ("dialect", "enum", "attrdef", "op")  # of each, declarations and definitions
NEEDS = (
    f"the NPU dialect in C++ needs Debian's packages clang-{VERSION}, llvm-{VERSION}-dev, "
    f"mlir-{VERSION}-tools and libmlir-{VERSION}-dev"
)


def build(folder: Path) -> Path:
    """The plugin as a file in this folder, as it was kept or freshly compiled.

    ValueError if a tool is missing, with what to install, or if one refuses, in its words.
    """
    tools = [tool(name.removesuffix(f"-{VERSION}"), NEEDS) for name in TOOLS]
    headers()
    here = Path(__file__).parent
    sources = [(here / name).read_text() for name in ("npu.td", "npu.h", *SOURCES)]
    how = [inspect.getsource(each) for each in (generate, shared_object)]
    versions = [output([path, "--version"]) for path in tools]
    key = "\n".join([*versions, *how, chips.text(), *sources])
    code, _ = kept("plugins", key, lambda: (_compiled(), b""))
    return write(folder / "npu.so", code)


def headers() -> Path:
    """Where MLIR's own headers and records are. ValueError if they are nowhere."""
    folder = Path(output([tool("llvm-config", NEEDS), "--includedir"]).strip())
    if not (folder / "mlir/IR/OpBase.td").exists():
        raise ValueError(f"MLIR's headers are not installed: {NEEDS}")
    return folder


def _compiled() -> bytes:
    with TemporaryDirectory() as name:
        folder, here = Path(name), Path(__file__).parent
        generate(folder)
        whole = folder / "npu.cpp"  # one file: MLIR's headers are read once, which takes longest
        whole.write_text("".join(f'#include "{here / source}"\n' for source in SOURCES))
        return shared_object(folder / "npu.so", [whole], [folder], NEEDS).read_bytes()


def generate(folder: Path) -> None:
    """Write what the C++ includes: `op_decls.inc` and the like from `npu.td`, and `chips.inc`."""
    records = str(Path(__file__).with_name("npu.td"))
    command = [tool("mlir-tblgen", NEEDS), "-I", str(headers()), records]
    for what in GENERATED:
        for part in ("decls", "defs"):
            text = output([*command, f"-gen-{what}-{part}"])
            (folder / f"{what}_{part}.inc").write_text(text)
    (folder / "chips.inc").write_text(chips.text())


def opt(plugin: Path, text: str, *options: str) -> str:
    """What mlir-opt, with the dialect loaded, makes of the text of a module.

    ValueError with its diagnostics for a module that it refuses: place, operation, reason.
    """
    return output([tool("mlir-opt", NEEDS), f"--load-dialect-plugin={plugin}", *options], text)
