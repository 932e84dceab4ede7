"""What packages export is in the reference."""

import importlib
from pathlib import Path

import pytest

import skbo_silbo

REFERENCE = Path(__file__).parents[2] / "doc" / "api.rst"


@pytest.mark.parametrize("package", ["space", "integrations"])
def test_what_is_exported_is_documented(package):
    documented = set(REFERENCE.read_text(encoding="utf-8").split())
    for name in importlib.import_module(f"skbo_silbo.{package}").__all__:
        assert {f"{package}.{name}", *({name} & set(skbo_silbo.__all__))} & documented, name
