"""Private names of scikit-learn, joblib and loky stay in `_sklearn.py` and `_joblib.py`."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import skbo_silbo

PACKAGE = Path(skbo_silbo.__file__).parent
GUARDED = {PACKAGE / "_sklearn.py", PACKAGE / "_joblib.py"}
LIBRARIES = {"sklearn", "joblib", "loky"}
# Private names of other libraries, which their own tests guard.
OF_OTHERS = {
    "_contains": "optuna",
    "_exit": "os",
    "_raise_error_if_multi_objective": "optuna",
    "_replace": "collections",
    "_storage": "optuna",
    "_trial_id": "optuna",
}
# Private methods and attributes of scikit-learn that our classes override: its extension points.
OVERRIDDEN = {
    "_check_refit_for_multimetric",
    "_parameter_constraints",
    "_run_search",
}
MADE_BY_BASE = {"_abc_impl", "_sklearn_auto_wrap_output_keys"}  # set in every subclass


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def is_private_path(module, name=""):
    """Return whether a dotted path leads into the private part of one of the libraries."""
    library, *parts = [*module.split("."), *filter(None, [name])]
    is_hidden = library == "loky" or (library == "joblib" and "." in module)  # not exported
    return library in LIBRARIES and (is_hidden or any(map(is_private, parts)))


def text_of(node):
    """Return the value of a node that is a text, else an empty text."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else ""


def imports_of(tree):
    """Return (line, path) for all imports, and for all texts that name a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, (node.module, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, (alias.name,)) for alias in node.names)
        elif "." in (text := text_of(node)) and all(map(str.isidentifier, text.split("."))):
            yield node.lineno, (text,)


def private_names_of(tree):
    """Return (line, name, whether of self) for private names that are read."""
    for node in ast.walk(tree):
        is_read = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store)
        if is_read and is_private(node.attr):
            yield node.lineno, node.attr, ast.unparse(node.value) in ("self", "cls", "super()")
        elif is_private(name := text_of(node)) and name.isidentifier() and name[-1] != "_":
            yield node.lineno, name, False  # a name passed to getattr


def defined_names(tree):
    """Return the names of functions, classes, variables and attributes that a module defines."""
    nodes = list(ast.walk(tree))
    stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    return {
        *(node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))),
        *(node.attr for node in stored if isinstance(node, ast.Attribute)),
        *(node.id for node in stored if isinstance(node, ast.Name)),
    }


@pytest.fixture(scope="module")
def trees():
    return {path: ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}


def test_private_modules_are_imported_in_one_place(trees):
    found = [
        f"{path.relative_to(PACKAGE)}:{line} {'.'.join(names)}"
        for path, tree in trees.items()
        if path not in GUARDED
        for line, names in imports_of(tree)
        if is_private_path(*names)
    ]
    assert found == [], "move these to _sklearn.py or _joblib.py, with a test"


def test_private_attributes_are_read_in_one_place(trees):
    """A private name is one of ours, or listed; one of the libraries is read of self alone."""
    own = set().union(*map(defined_names, trees.values()))
    of_libraries = {
        name for path in GUARDED for _, name, is_own in private_names_of(trees[path]) if not is_own
    }
    found, seen = [], set()
    for path, tree in trees.items():
        for line, name, is_own in private_names_of(tree) if path not in GUARDED else ():
            seen.add(name)
            is_foreign = name not in own or (name in of_libraries and not is_own)
            if is_foreign and name not in OF_OTHERS:
                found.append(f"{path.relative_to(PACKAGE)}:{line} {name}")
    assert found == [], "move these to _sklearn.py or _joblib.py, with a test"
    assert OF_OTHERS.keys() <= seen, "names that are no longer used"


def test_overridden_names_of_scikit_learn_are_listed():
    """A release of scikit-learn that renames one of them would no longer call our method."""
    found = set()
    for info in pkgutil.walk_packages(skbo_silbo.__path__, "skbo_silbo."):
        module = importlib.import_module(info.name)
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == info.name:
                bases = [base for base in cls.__mro__ if base.__module__.startswith("sklearn.")]
                of_sklearn = set().union(*map(vars, bases))
                found |= {name for name in vars(cls) if is_private(name)} & of_sklearn
    assert found - MADE_BY_BASE == OVERRIDDEN
