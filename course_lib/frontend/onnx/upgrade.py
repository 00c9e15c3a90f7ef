"""Models of opsets 7 to 12 are brought to opset 13 by onnx's own version converter.

    Softmax(%x: f32[2,3,4], axis=1)   of opset 11, which takes the axes from 1 on for one

    ==>  Reshape(Softmax(Flatten(%x, axis=1), axis=-1), Shape(%x))

Next: `opset.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import onnx
from onnx import helper, version_converter

from course_lib.frontend.onnx.opset import OLDEST_OPSET, missing, schema, version
from course_lib.frontend.onnx.table import ASTRAY, MICROSOFT
from course_lib.frontend.provenance import UnsupportedOps

OLDEST_CONVERTED = {"": 7, "Scan": 9}  # before that it had a batch axis, which the converter drops


def upgrade(proto: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model in an opset that the rules know; itself if it is in one already.

    `UnsupportedOps` for ops that are too old or unknown; ValueError with the words of the converter
    if there is another reason why it cannot convert the model.
    """
    old = version(proto.opset_import)
    if old >= OLDEST_OPSET:
        return proto
    outdated = list(_outdated(proto.graph.node, old))
    if outdated:
        raise UnsupportedOps(name, outdated)
    try:
        new = version_converter.convert_version(_named(proto), OLDEST_OPSET)
    except Exception as error:  # of the converter, in C++, or of protobuf: whatever it says
        unknown = [(op, at) for op, at in missing(proto.graph.node, old) if schema(op, old) is None]
        if unknown:
            raise UnsupportedOps(name, unknown) from error
        reason = str(error).rsplit("failed: ", 1)[-1].strip()
        raise ValueError(
            f"{name} is written in opset {old}, and onnx's version converter cannot bring it to "
            f"opset {OLDEST_OPSET}: {reason}; export the model with opset {OLDEST_OPSET} or newer"
        ) from error
    _mend(new.graph, old)
    return new


def _outdated(nodes: Iterable[onnx.NodeProto], old: int) -> Iterable[tuple[str, str]]:
    """(op, node) for each node that has changed since, in a way that the converter cannot undo."""
    for index, node in enumerate(nodes):
        oldest = OLDEST_CONVERTED.get(node.op_type, OLDEST_CONVERTED[""])
        then, later = schema(node.op_type, old), schema(node.op_type, oldest)
        if old < oldest and then and later and then.since_version != later.since_version:
            where = node.name or f"{node.op_type}#{index}"
            yield f"{node.op_type} of opset {old} (export the model with {OLDEST_OPSET})", where
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _outdated(attribute.g.node, old)


def _named(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy in which every node has a name: the converter changes places, but no names.

    What onnxruntime has put into ONNX's domain before ONNX had it goes to the domain where it
    belongs, which the converter leaves alone.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for index, node in enumerate(copy.graph.node):
        node.name = node.name or f"{node.op_type}#{index}"
        if node.op_type in ("LayerNormalization", *ASTRAY):  # ONNX has the first since opset 17
            node.domain = MICROSOFT
    if MICROSOFT not in [entry.domain for entry in copy.opset_import]:
        copy.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    return copy


# ── what the converter leaves as it was, although it has another meaning since ──


def _mend(graph: onnx.GraphProto, old: int) -> None:
    """Resize and Hardmax, here and in the graphs inside."""
    nodes = list(graph.node)
    del graph.node[:]
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _mend(attribute.g, old)
        if node.op_type == "Resize" and old <= 10:
            _resize_as_before(node)
        graph.node.extend(_hardmax_as_before(node) if node.op_type == "Hardmax" else [node])


def _resize_as_before(node: onnx.NodeProto) -> None:
    """Resize of opset 10, and Upsample before it, know one way to resize, and no word for it."""
    words = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    node.attribute.extend(helper.make_attribute(name, value) for name, value in words.items())


def _hardmax_as_before(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """All axes from `axis` on count as one (the converter does this for Softmax)."""
    (x,), (y,) = node.input, node.output
    axis = helper.get_node_attr_value(node, "axis") if node.attribute else 1
    make = partial(helper.make_node, name=node.name)
    return [
        make("Shape", [x], [f"{y}_shape"]),
        make("Flatten", [x], [f"{y}_flat"], axis=axis),
        make("Hardmax", [f"{y}_flat"], [f"{y}_hard"], axis=-1),
        make("Reshape", [f"{y}_hard", f"{y}_shape"], [y]),
    ]
