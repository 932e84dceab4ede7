"""The examples of the documentation run, page by page; those of the README and of the modules are
collected by pytest itself."""

import doctest
from pathlib import Path

import pytest

DOC = Path(__file__).parents[2] / "doc"


@pytest.mark.docs
@pytest.mark.parametrize("page", sorted(DOC.glob("*.rst")), ids=lambda page: page.name)
def test_examples_of_the_documentation_run(page):
    assert doctest.testfile(str(page), module_relative=False).failed == 0
