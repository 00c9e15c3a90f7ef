"""Dumps in which no line gives a name to a value: Inductor's Python, OpenVINO's XML, MNN's JSON.

    read("async_compile.cpp_pybinding(...")  ->  the calls of the generated program
    read("<net name=...")                    ->  the layers
    read('{"inputIndexes": [3], ...}')       ->  a layer a line

Inductor writes into buffers, which it uses again: what a call reads is what was written last. Which
of its arguments a kernel writes, its declaration says: those that are not `const`. Next room:
`operation.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from course_lib.peers.align.jaxprs import read_jaxpr
from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.reading import read_ssa
from course_lib.peers.align.statement import Statement

BOUND = re.compile(r"^(\w+) = async_compile\.cpp_pybinding\(\[(.*?)\]", re.M)
CALL = re.compile(r"^\s*(?:(buf\d+) = )?([A-Za-z_][\w.]*)\((.*)\)\s*(?:#.*)?$")
ALIAS = re.compile(r"^\s*(buf\d+) = (?:reinterpret_tensor\()?(\w+)\b(?!\.|\()")
BUFFER = re.compile(
    r"\b(?:buf\d+|arg\d+_\d+|_frozen_param\d+|primals_\d+|constant\d+|_tensor\w+)\b"
)
NODES = re.compile(r"# Topologically Sorted Source Nodes: \[(.*?)\]")
NO_CALL = ("assert_", "empty_strided", "reinterpret_tensor", "del", "args.clear", "return")


def read(text: str) -> list[Statement]:
    """The statements of a dump, in whichever of these forms it is."""
    for begins, reader in FORMS:
        if re.search(begins, text[:200_000], re.M):
            return reader(text)
    return read_ssa(text)


def read_inductor(text: str) -> list[Statement]:
    """The calls of the generated program."""
    written = {name: [k for k, type in enumerate(re.findall(r"'([^']*)'", types))
                      if not type.startswith("const")]
               for name, types in BOUND.findall(text)}  # fmt: skip
    values: dict[str, Statement] = {}
    done: list[Statement] = []
    nodes: list[str] = []
    for number, line in _program(text):
        if found := NODES.search(line):
            nodes = found[1].split(", ")
        elif (found := CALL.match(line)) and not found[2].startswith(NO_CALL):
            given = found[3]
            buffers: list[str] = BUFFER.findall(given)
            made = Statement(number, number, found[2], _library(found[2], given), calls=found[2])
            outs = [buffers[k] for k in written.get(found[2], ()) if k < len(buffers)]
            outs += re.findall(r"out=(?:reinterpret_tensor\()?(\w+)", given)
            if not found[1] and not outs:
                outs = buffers[:1]  # a library's kernel without a result works in place
            fresh = {name for name in outs if name not in values}
            read = [name for name in buffers if name not in fresh]
            made.operands = [values.get(name, name) for name in read]
            made.result, made.nodes = found[1] or "", frozenset(nodes)
            values |= dict.fromkeys([*outs, *filter(None, [found[1]])], made)
            done.append(made)
            nodes = []
        elif (found := ALIAS.match(line)) and found[2] in values:
            values[found[1]] = values[found[2]]
    return done


def _program(text: str) -> Iterator[tuple[int, str]]:
    """The lines of `call`, with their numbers."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if "def call(" in line), len(lines))
    for k in range(start + 1, len(lines)):
        if re.match(r"\s*return |\S", lines[k]):
            return
        yield k + 1, lines[k]


def _library(word: str, given: str) -> frozenset[str]:
    """What a call does, with what a library's kernel adds, multiplies or clips in the end."""
    found = set(kinds(word))
    if word.startswith("cpp_fused"):  # named by the operations around it, too: these it calls
        found = found - {"conv", "matmul", "attention"} or {"pointwise"}
    if "conv" in found or "matmul" in found:
        found |= {"relu"} if re.search(r"'(?:relu|hardtanh)'", given) else set()
        found |= {"sum"} if re.search(r"\bbinary\b", word) else set()
    return frozenset(found)


def read_openvino(text: str) -> list[Statement]:
    """The layers of a network, in its order."""
    net = ElementTree.fromstring(text)
    lines = text.splitlines()
    starts = {m[1]: k for k, line in enumerate(lines, 1)
              if (m := re.match(r'\s*<layer id="(\d+)"', line))}  # fmt: skip
    layers: dict[str, Statement] = {}
    for layer in net.iter("layer"):
        number, word = layer.get("id", ""), layer.get("type", "")
        data = {k: v for one in layer.iter("data") for k, v in one.items()}
        names = {layer.get("name", "")}
        for one in layer.iter("attribute"):
            if one.get("name") in ("fused_names", "fused_names_0", "originalLayersNames"):
                names |= set(one.get("value", "").split(","))
        names |= set((data.get("originalLayersNames") or "").split(","))
        results = {name for port in layer.iter("port") for name in port.get("names", "").split(",")}
        first = starts.get(number, 1)
        last = next((k for k in range(first, len(lines)) if "</layer>" in lines[k - 1]), first)
        made = Statement(first, last, word, kinds(word), calls=word)
        made.names = made.nodes = frozenset(name.strip() for name in names if name.strip())
        made.label = layer.get("name", "")
        made.result = next(iter(sorted(filter(None, results))), "")
        layers[number] = made
    for edge in net.iter("edge"):
        layers[edge.get("to-layer", "")].operands.append(layers[edge.get("from-layer", "")])
    return list(layers.values())


def read_mnn(text: str) -> list[Statement]:
    """A layer a line."""
    values: dict[int, Statement] = {}
    done = []
    for number, line in enumerate(text.splitlines(), 1):
        layer = json.loads(line) if line.startswith('{"') else {}
        if "type" not in layer:
            continue
        main = layer.get("main") or {}
        word = str(main.get("opType", layer["type"])) if layer["type"] != "Const" else "constant"
        common = main.get("common") or {}
        made = Statement(number, number, word, _mnn_kinds(layer["type"], word, common), calls=word)
        made.result = layer.get("name", "")
        made.operands = [values.get(k, f"{k}") for k in layer.get("inputIndexes", [])]
        values |= dict.fromkeys(layer.get("outputIndexes", []), made)
        done.append(made)
    return done


def _mnn_kinds(type: str, word: str, common: dict) -> frozenset[str]:
    found = {"Convolution": "conv", "ConvolutionDepthwise": "conv", "ConvertTensor": "reorder"}
    said = set(kinds(found.get(type, word)))
    return frozenset(said | ({"relu"} if common.get("relu") or common.get("relu6") else set()))


FORMS: list[tuple[str, Callable[[str], list[Statement]]]] = [
    (r"^async_compile = |def call\(self, args\)", read_inductor),
    (r"^<\?xml|^<net ", read_openvino),
    (r'^\{"(?:inputIndexes|main_type)"', read_mnn),
    (r"\A\{ lambda ", read_jaxpr),
]
