"""The models of the course as ONNX files: exported once, in both forms, without a word."""

import onnx
import pytest

from course_lib.models import MODELS

exported = pytest.importorskip("course_lib.models.exported")


def test_it_is_exported_once_in_both_forms(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path))
    traced, clean = (exported.onnx_model("block", clean=flag) for flag in (False, True))
    assert len(clean.graph.node) < len(traced.graph.node)
    for model in (traced, clean):
        onnx.checker.check_model(model)
    assert len(list((tmp_path / "models").iterdir())) == 1
    monkeypatch.setattr(exported, "_export", None)  # called, it would raise
    assert exported.onnx_model("block") == traced
    assert exported.onnx_model("block", clean=True) == clean
    assert capfd.readouterr() == ("", "")


def test_another_exporter_or_another_model_is_another_file(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path))
    monkeypatch.setattr(exported, "_export", lambda name: (b"", _empty(name)))
    for name in MODELS:
        assert exported.onnx_model(name, clean=True).producer_name == name
    monkeypatch.setattr(exported, "version", lambda name: "0.0")
    exported.onnx_model("mlp")
    assert len(list((tmp_path / "models").iterdir())) == len(MODELS) + 1


def _empty(name: str) -> bytes:
    return onnx.ModelProto(producer_name=name).SerializeToString()


def test_an_unknown_name_is_said():
    with pytest.raises(ValueError, match="no model 'vgg'; the course has mlp, block"):
        exported.onnx_model("vgg")
