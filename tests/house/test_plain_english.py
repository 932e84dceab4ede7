"""Pages and public docstrings have short sentences and the field's words."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

DOC = Path(__file__).parents[2] / "doc"
PAGES = [
    *sorted(DOC.glob("*.rst")),
    DOC / "benchmarks" / "index.rst",
    DOC / "whats_new" / "upgrading.rst",
    DOC / "whats_new" / "v1.0.rst",
]
MOST_WORDS = 35
# House words, and what the field says in their place.
BANNED = {
    "idle": "irrelevant (an input), unused (a worker)",
    "dear": "expensive",
    "dearer": "more expensive",
    "dearest": "most expensive",
    "believed": "estimated, predicted",
    "believing": "conditioned on predicted values",
    "belief": "model",
    "liked": "ranked",
    "settle": "choose",
    "sure": "certain, or the error",
    "surely": "the number with its error",
    "told": "observed, reported",
    "alike": "equally, both",
    "is understood": "means",
    "be it": "also by",
    "flock": "gather",
    "guess": "estimate",
    "doors": "classes and functions",
    "to be had": "available",
    "with half the probability of": "half as often as",
}


def paragraphs(text):
    """Yield the prose of a page, a string a paragraph, list item or cell; no code and no markup."""
    text = re.sub(r"\n\.\. code-block::[^\n]*\n(\n|[ ]+[^\n]*\n)+", "\n", text)
    text = re.sub(r"::\n\n(( +[^\n]*)?\n)+", ".\n\n", text)  # literal blocks
    text = re.sub(r"^ *>>>.*?(\n\s*\n|\Z)", "\n", text, flags=re.M | re.S)
    text = re.sub(r"^ *(\.\. |:)[^\n]*\n", "\n", text, flags=re.M)  # directives and their options
    text = re.sub(r"^[=~^-]{3,}.*$", "\n", text, flags=re.M)
    text = re.sub(r"^ *(\* -|-|\*|\d+\.) ", "\n", text, flags=re.M)
    text = re.sub(r":\w+:`~?([^`]*?)(?: <[^`]*>)?`", r"\1", text)
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip():
            yield " ".join(paragraph.split())


def sentences(text):
    """Return the sentences of a page; a colon or semicolon ends none."""
    found = []
    for paragraph in paragraphs(text):
        found += re.split(r"(?<=[.!?])[\"')]*\s+(?=[\"'(`*A-Z])", paragraph)
    return found


def words(sentence):
    return re.findall(r"\S*\w\S*", sentence)


def test_sentences_are_found():
    text = "Title\n=====\n\nOne two. Three, ``a.b`` four: five::\n\n    code\n\n* six\n* seven\n"
    assert sentences(text) == ["Title", "One two.", "Three, ``a.b`` four: five.", "six", "seven"]
    assert len(words("Three, ``a.b`` four - five.")) == 4


def long_sentences(text):
    return [sentence for sentence in sentences(text) if len(words(sentence)) > MOST_WORDS]


def house_words(text):
    prose = " ".join(paragraphs(text)).lower()
    return [f"{word}: {BANNED[word]}" for word in BANNED if re.search(rf"\b{word}\b", prose)]


def bare_decimals(text):
    return re.findall(r"(?<![\w.\])])-?\.\d+", " ".join(paragraphs(text)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_sentence_is_long(page):
    long = long_sentences(page.read_text())
    assert not long, f"more than {MOST_WORDS} words: " + "\n".join(long)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_words_are_the_fields(page):
    found = house_words(page.read_text())
    assert not found, f"write: {found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_decimals_have_a_leading_zero(page):
    assert not bare_decimals(page.read_text())


def of_name(dotted):
    """Return the object that a name of the reference stands for."""
    package, _, name = f"skbo_silbo.{dotted}".rpartition(".")
    return getattr(importlib.import_module(package), name)


def public_members(kind):
    """Yield the docstrings of what a class shows, inherited from this package or its own."""
    for name in [name for name in dir(kind) if not name.startswith("_")]:
        found = inspect.getattr_static(kind, name)
        code = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        if getattr(code, "__module__", "").startswith("skbo_silbo") and inspect.getdoc(code):
            yield f"{kind.__name__}.{name}", inspect.getdoc(code)


def openings():
    """Return what every public docstring says before its first section, by name."""
    docs = {}
    for name in re.findall(r"^   ([\w.]+)$", (DOC / "api.rst").read_text(), re.M):
        thing = of_name(name)
        docs[name] = inspect.getdoc(thing)
        docs |= dict(public_members(thing)) if inspect.isclass(thing) else {}
    return {name: re.split(r"\n\n(?=\S[^\n]*\n---)", doc)[0] for name, doc in docs.items()}


def test_public_docstrings_open_in_plain_english():
    docs = openings()
    assert len(docs) > 200
    wrong = {n: long_sentences(t) + house_words(t) + bare_decimals(t) for n, t in docs.items()}
    assert not {name: found for name, found in wrong.items() if found}
