"""Why the plane of semi-SIR stays at chance: what the measure and the table say."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.engine import Store
from benchmarks.experiments import _learnt_plane as planes
from skbo_silbo.embedding import LinearEmbedding

pytestmark = pytest.mark.bench

RESULTS = Path(__file__).parents[2] / "doc" / "benchmarks" / "learnt_plane.jsonl"


def test_what_a_span_holds_is_the_squared_trace_correlation():
    rng = np.random.default_rng(0)
    true, found = rng.standard_normal((2, 9, 3))
    projections = [A @ np.linalg.pinv(A) for A in (true, found)]
    expected = np.trace(projections[0] @ projections[1]) / 3.0
    assert planes.held(true, found) == pytest.approx(expected, abs=1e-4)
    assert planes.held(true, true @ rng.standard_normal((3, 3))) == pytest.approx(1.0)


def test_only_what_the_plane_does_not_see_is_drawn_anew():
    embedding = LinearEmbedding.from_components(np.eye(30)[:2])
    optimizer, Z = planes.RedrawnSILBO([(-1, 1)] * 30), np.array([[0.5, -0.2], [0.5, -0.2]])
    X = optimizer.place(Z, np.ones((2, 30)), embedding, np.zeros(30))
    assert_allclose(embedding.project(X), Z, atol=1e-9)
    assert (X[0, 2:] != X[1, 2:]).all()


def test_every_search_is_one_that_is_not_refused():
    made = [planes.make_search([(-1, 1)] * 20, m, 2, 0) for m in planes.METHODS]
    assert [m.n_unlabeled for m in made] == [50, 50, 0, 0, 0]
    assert [m.n_initial_ for m in made] == [11, 11, 11, 35, 11]


def test_a_fit_lies_in_the_span_of_its_points():
    """So a plane cannot hold more of the truth than the points evaluated do."""
    cells = planes.LEARNT_PLANE.cells("tiny")
    assert {cell.method for cell in cells} == {planes.METHODS[0], planes.METHODS[4]}
    for cell in cells:
        (problem,) = planes.ridges(40, 25)[:1]  # more inputs than values
        result = planes.measure_plane(problem, cell.method, cell.repeat)
        fits = np.array(result["refits"]["all values"] + result["refits"]["the proposals"])
        assert (fits <= result["span"] + 1e-3).all()
        assert set(result["planes"]) == {"11", "25"}
        assert 0.0 < result["span"] < 1.0


def made_result(method, repeat, held):
    return {
        "method": method,
        "repeat": repeat,
        "status": "ok",
        "planes": {"50": held},
        "first plane": 1.0,
        "refits": {key: [held, 0.5] for key in planes.FITS},
        "span": 0.6,
        "share": 0.2,
    }


@pytest.mark.parametrize(("n_runs", "n_tables"), [(59, 1), (60, 2)])
def test_a_search_with_few_runs_is_grey_and_its_points_are_not_told(n_runs, n_tables):
    results = [made_result(planes.ONE, i, 0.1 + 0.1 * (i % 2)) for i in range(n_runs)]
    tables = planes.report(results)  # the other searches lack, so there is no paragraph
    assert len(tables) == n_tables
    row = dict(zip(tables[0].header, tables[0].rows[0], strict=True))
    assert (":grey:" in row["search"]) == (n_runs < 60)
    assert (row["after 11"], row["of the first plane"]) == ("", "")
    if n_tables == 2:
        assert row["after 50"] == "0.150 ± 0.007"
        assert tables[1].rows[0][0] == "all values"


def test_the_words_of_the_page_are_true_of_the_results():
    """The paragraph has the figures of the day in sentences that were written once."""
    results = Store(RESULTS).read()
    rows = {m: [r for r in results if r["method"] == m] for m in planes.METHODS}
    fits = [values[0].mean() for values in planes._refits(rows[planes.ONE]).values()]
    alone, few, proposals, _, fair, penalised, chosen = fits
    held, closed = (
        [np.mean([told(r) for r in own]) for own in rows.values()]
        for told in (lambda r: r["planes"]["50"], lambda r: r["share"])
    )
    as_is, one, labelled, early, redrawn = closed
    assert held[1] < 0.5 * alone
    assert held[0] > 1.5 * held[1]
    assert penalised < 0.5 * fair
    assert chosen > 0.8 * fair
    assert max(few, proposals) < 0.4 * fair
    assert held[4] > 2.0 * held[2]
    assert held[4] > 1.5 * held[3]
    assert redrawn > labelled > early > one + 0.2
    assert as_is > one + 0.4
