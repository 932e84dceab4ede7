"""The findings page agrees with the stored results."""

import re

import pytest
import write_findings as findings
from paper_claims import ALIKE

from benchmarks.experiments._published import published_curves
from benchmarks.registry import FOLDER, TABLES

pytestmark = pytest.mark.bench


def test_page_numbers_are_in_results():
    """Check also that the page contains all tables and no others."""
    assert findings.main([]) == 0
    page = (FOLDER / "findings.rst").read_text()
    assert {path.name for path in TABLES.glob("findings-*.csv")} == set(
        re.findall(r":file: tables/(findings-\S+)", page)
    )
    assert page.count("csv-table::") == page.count(":file: ")


Z = {  # bottom-up minus baseline for Branin, Hartmann6 and Colville with 100 and 1000 inputs
    "REMBO": (6.2, 3.5, 12.5, 10.3, 4.7, 4.0),
    "HeSBO": (3.6, 2.8, -0.6, -2.8, 2.7, 3.1),
    "SIR-BO": (-2.5, -2.6, -0.5, -5.9, 10.8, 13.0),
    "ADD-BO": (-3.4, 11.0, -19.4, -1.6, 2.1, 32.5),
}


def test_authors_curves_match_audit():
    """The reference values come from the file of all points, which is not in the repository."""
    curves = published_curves(TABLES / "published.csv")
    found = findings.authors_claims(curves, findings.AUTHORS)
    assert len(found) == len(Z)
    for claim, cells in found.items():
        z = [z for z, _ in cells]
        assert z == pytest.approx(Z[claim.second[0]], abs=0.06)


def test_the_short_answer_is_what_the_data_say():
    curves = published_curves(TABLES / "published.csv")
    authors = findings.authors_claims(curves, findings.AUTHORS)
    signs = {c.second[0]: {sign for _, sign in cells} for c, cells in authors.items()}
    assert signs.pop("REMBO") == {1}
    assert all(len(found) > 1 for found in signs.values())
    more, alike = findings.authors_claims(curves, findings.AUTHORS_MORE), ALIKE
    assert {s for c, cells in more.items() if c.words == alike for _, s in cells} == {0}
    kernels = [[s for _, s in cells] for c, cells in more.items() if "kernel" in c.words]
    assert kernels == [[0, 0, 1, 1, 1, 1]] * 2  # Branin first
    results = findings.Results("paper")
    rows = [
        (claim.words, name, sign)
        for d in (100, 1000)
        for claim, _, _, name, _, _, sign in findings.our_claims(
            results, findings.CLAIMS[d], findings.FUNCTIONS, d
        )
    ]
    gains = {
        name for words, name, sign in rows if words == "bottom-up beats random search" and sign
    }
    assert gains == {"Colville"}
    ablations = ("unlabelled", "10 and 10", "learning every")
    assert {sign for words, _, sign in rows if words.startswith(ablations)} == {0}
