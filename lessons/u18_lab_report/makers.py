"""What makes the recorded report again. Next room: bench.py."""

from __future__ import annotations

import json
from typing import Any

from course_lib.maker import maker
from course_lib.peers.model import model_of
from lessons.u18_lab_report.bench import report_of

EIGHT = ("course", "torch-eager", "onnxruntime", "openvino", "mnn", "jax", "tvm", "tinygrad")
NEEDS = ("torch", "onnxruntime", "openvino", "MNN", "jax", "tvm", "tinygrad")
ROUNDS, SPELL = 8, 0.2  # rounds, and seconds of one system in a round


@maker("the systems of course_lib bench", "course_lib", *NEEDS, compared="names of texts",
       seconds=900)  # fmt: skip
def mobilenet() -> dict[str, str]:
    """MobileNetV2 in eight systems."""
    report = report_of(model_of("mobilenet_v2"), EIGHT, (1, 2), ROUNDS, ROUNDS * SPELL)
    return {"report": _text(report.data)}


def _text(data: dict[str, Any]) -> str:
    """JSON with a row of the report in a line, and four digits of what was measured."""
    head = {key: value for key, value in data.items() if key != "rows"}
    rows = [json.dumps({key: _short(value) for key, value in row.items()}) for row in data["rows"]]
    return json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(rows) + "\n]}"


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
