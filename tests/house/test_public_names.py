"""What packages export is in the reference, once, and nothing else is."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import skbo_silbo

pytestmark = pytest.mark.quick

REFERENCE = Path(__file__).parents[2] / "doc" / "api.rst"
MOST = 110


def public_packages():
    names = {module.name for module in pkgutil.iter_modules(skbo_silbo.__path__) if module.ispkg}
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


def test_the_reference_has_what_packages_export_and_nothing_else():
    pytest.importorskip("optuna")
    assert set(documented()) == exported()
    assert len(documented()) == len(set(documented()))


def test_there_are_few_public_names():
    assert 80 < len(exported()) <= MOST


def test_a_name_means_one_thing():
    """What two packages export under one name is one object."""
    meanings = {}
    for package in [skbo_silbo, *public_packages()]:
        for name in package.__all__:
            meanings.setdefault(name, set()).add(id(getattr(package, name)))
    assert not [name for name, objects in meanings.items() if len(objects) > 1]
