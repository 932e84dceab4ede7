"""The reference lists exactly the exported names."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import skbo_silbo

pytestmark = pytest.mark.quick

REFERENCE = Path(__file__).parents[2] / "doc" / "api.rst"


def public_packages():
    names = {module.name for module in pkgutil.iter_modules(skbo_silbo.__path__)}
    public = sorted(name for name in names if not name.startswith("_"))
    packages = [importlib.import_module(f"skbo_silbo.{name}") for name in public]
    return [package for package in packages if hasattr(package, "__all__")]


def exported():
    """Return every exported name as the reference has it: the shortest way to import it."""
    names = set(skbo_silbo.__all__)
    for package in public_packages():
        room = package.__name__.removeprefix("skbo_silbo.")
        names |= {f"{room}.{name}" for name in set(package.__all__) - set(skbo_silbo.__all__)}
    return names


def documented():
    return re.findall(r"^   ([A-Za-z][\w.]*)$", REFERENCE.read_text(encoding="utf-8"), re.M)


def test_reference_lists_all_exported_names():
    pytest.importorskip("optuna")
    assert set(documented()) == exported()
    assert len(documented()) == len(set(documented()))


def test_exported_name_is_one_object():
    meanings = {}
    for package in [skbo_silbo, *public_packages()]:
        for name in package.__all__:
            meanings.setdefault(name, set()).add(id(getattr(package, name)))
    assert not [name for name, objects in meanings.items() if len(objects) > 1]
