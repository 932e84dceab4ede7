"""The measurements that the guide and the README tell are those of the data files."""

import csv
import re
from pathlib import Path

import pytest

DOC = Path(__file__).parents[2] / "doc"


def rows(name):
    """Return the rows of a table of the benchmarks, each a dict."""
    with (DOC / "benchmarks" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    """Return the number that a cell begins with."""
    return float(re.match(r"[+-]?[\d.]+", text)[0])


def extremes(name, column, keep=lambda row: True):
    """Return the least and the greatest number of a column."""
    found = [number(row[column]) for row in rows(name) if keep(row) and row[column]]
    return min(found), max(found)


def seconds_of_a_proposal():
    ours = [row for row in rows("overhead-overhead-of-a-proposal") if row["method"] == "silbo"]
    return {row["n x d"]: f"{number(row['median s']):.2f}" for row in ours}


def phrases_of_when_not():
    took = seconds_of_a_proposal()
    yield f"took {took['100 x 2']} to {took['100 x 1000']} s with 2 to 1000 inputs"


def phrases_of_guide_minimize():
    took = seconds_of_a_proposal()
    yield f"took {took['100 x 10']} s with 10 inputs, {took['100 x 100']} s with 100"
    yield f"and {took['100 x 1000']} s with 1000"


def phrases_of_guide_reduce():
    name = "sdr_defaults-unlabelled-rows"
    waves = next(row for row in rows(name) if row["cell"] == "waves, 20 x 50")
    least, most = extremes(name, "auto less 0 (se)")
    yield f"R² rose from {waves['alpha 0']} to {waves['auto']}"
    assert len(rows(name)) == 13
    yield f'On thirteen sets ``"auto"`` gained up to {most:.3f}, and lost up to {-least:.3f}'


def phrases_of_guide_directions():
    fitted = [r for r in rows("sdr_defaults-ridge") if r["LassoCV"] != "--" and r["cell"] != "mean"]
    ahead = sum(number(row["LassoCV"]) > number(row["auto"]) for row in fitted)
    yield f"in {ahead} of {len(fitted)} regressions"
    cells = re.findall(r"^(\d+) x (\d+).*([+-]\d\.\d+) ±", first_direction(), re.M)
    gains = {(int(n) // int(d), float(gain)) for n, d, gain in cells}
    gained = [gain for labels, gain in gains if labels < 5 and gain > 0]
    yield f"gained {min(gained):.2f} to {max(gained):.2f} of R² with one to four labels a feature"
    found = rows("sdr_defaults-number-of-directions")
    shares = [share_of_none(row) for row in found if row["cell"].startswith("null")]
    yield f"is 0 in {100 * min(shares):.0f} to {100 * max(shares):.0f} of 100 sets"
    two = ("rational", "quadratic")
    percentile = extremes(
        "sdr_defaults-coverage-at-a-nominal-95", "percentile", lambda r: r["cell"].startswith(two)
    )
    yield "cover {:.2f} to {:.2f} at a nominal 0.95 with two directions".format(*percentile)
    heavy = extremes("sdr_defaults-coverage-at-a-nominal-95", "normal", lambda r: r["X"] == "t3")
    yield f"coverage falls to {heavy[0]:.2f}"
    yield from phrases_of_coordinate_tests()


def phrases_of_coordinate_tests():
    general = [
        extremes(f"sdr_levels-{kind}", column)
        for kind in ("coordinates", "few_slices")
        for column in ("general", "general, one direction known")
    ]
    assert min(low for low, _ in general) >= 0.03
    assert max(high for _, high in general) <= 0.07
    yield "rejects between 0.03 and 0.07 of the sets in all cells"
    yield f"rejects up to {extremes('sdr_levels-coordinates', 'constant')[1]:.3f} there"
    given = extremes("sdr_levels-coordinates", "constant, one direction known")
    yield "with 100 x 8 rows it rejects {:.2f} to {:.2f}".format(*given)


def first_direction():
    return (DOC / "benchmarks" / "sdr_first_direction.txt").read_text(encoding="utf-8")


def share_of_none(row):
    times = {found: int(n) for found, n in re.findall(r"(\d+): (\d+)", row["found: times"])}
    return times["0"] / sum(times.values())


def phrases_of_guide_tune():
    area, r2 = ([row["as it is"], row["best of 10 known"]] for row in rows("known-too-good"))
    yield f"under the curve {area[1][1:]} higher than on rows"
    yield f"which was not chosen, was {area[0][1:]}. R² was lower"
    yield f"as it is by {r2[0][1:]}, of the best of ten by {r2[1][1:]}."
    assert (area[1][0], area[0][0], r2[0][0], r2[1][0]) == ("+", "+", "-", "-")


def phrases_of_readme():
    digits = next(row for row in rows("sdr_few_labels") if row["set, labels"] == "digits, 100")
    ours, ridge, near, lda = (
        f"{number(digits[name]) + 1e-9:.2f}"  # half is rounded up
        for name in ("semi-SIR, neighbours", "ridge", "neighbours", "LDA")
    )
    yield f"Over 26 seeds: {ours}, ridge {ridge}, neighbours {near}, [shrunken LDA {lda}]"


def phrases_of_index():
    found = {(row["problems"], row["evaluations"]): row for row in rows("who-wins")}
    won = found["bbob, 10 and 20 inputs", "100"]
    assert (won["best other"][-5:], won["ahead"]) == ("(TPE)", "ours")
    yield f"100 evaluations close {won['ours']} of the gap"
    yield f"Optuna's TPE, the best of four others, closes {number(won['best other']):.2f}"
    del found["bbob, 10 and 20 inputs", "100"]
    others = [row for (name, n), row in found.items() if n == "100" or "tuning" in name]
    assert all(number(row["difference"]) > 0 for row in others)
    assert {row["ahead"] for row in others} == {"not decided"}


PAGES = {
    "index.rst": phrases_of_index,
    "when_not.rst": phrases_of_when_not,
    "guide_minimize.rst": phrases_of_guide_minimize,
    "guide_tune.rst": phrases_of_guide_tune,
    "guide_reduce.rst": phrases_of_guide_reduce,
    "guide_directions.rst": phrases_of_guide_directions,
    "../README.md": phrases_of_readme,
}


def figures(text):
    return set(re.findall(r"\d+(?:\.\d+)?", text))


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_measured_figures(page):
    shown = figures((DOC / page).read_text(encoding="utf-8"))
    assert not [phrase for phrase in PAGES[page]() if not figures(phrase) <= shown]
