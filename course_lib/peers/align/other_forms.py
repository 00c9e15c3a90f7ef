"""Which form a dump is in; and two in which no line gives a name to a value: XML and JSON.

    read("<net name=...")                    ->  OpenVINO's layers
    read('{"inputIndexes": [3], ...}')       ->  MNN's, a layer a line
    read("async_compile.cpp_pybinding(...")  ->  what Inductor's program computes: `inductor.py`

Next room: `operation.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree import ElementTree

from course_lib.peers.align.inductor import arguments, read_inductor
from course_lib.peers.align.jaxprs import read_jaxpr
from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.reading import read_ssa
from course_lib.peers.align.statement import Statement
from course_lib.peers.align.uops import read_schedule, read_tensors


def read(text: str, others: Mapping[str, str] = MappingProxyType({})) -> list[Statement]:
    """The statements of a dump, in whichever of these forms it is; others: stages of the same
    system, by name."""
    for begins, reader in WITH_OTHERS:
        if re.search(begins, text[:200_000], re.M):
            return reader(text, others)
    for begins, reader in FORMS:
        if re.search(begins, text[:200_000], re.M):
            return reader(text)
    return read_ssa(text, arguments(text, others))


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


WITH_OTHERS: list[tuple[str, Callable[[str, Mapping[str, str]], list[Statement]]]] = [
    (r"^async_compile = |def call\(self, args\)", read_inductor),
    (r"\A\w+\(b\d+(?:\+\d+)?: \d+ ", read_schedule),
]
FORMS: list[tuple[str, Callable[[str], list[Statement]]]] = [
    (r"^<\?xml|^<net ", read_openvino),
    (r'^\{"(?:inputIndexes|main_type)"', read_mnn),
    (r"\A\{ lambda ", read_jaxpr),
    (r"\A(?:# b\d+ is .*\n)*\w+ = UOp\W", read_tensors),
]
