"""report: one self-contained page on a search, a result, an optimiser or a journal."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skbo_silbo import SILBO, SILBOSearchCV, minimize
from skbo_silbo.__main__ import main
from skbo_silbo.inspection import report
from skbo_silbo.inspection._advice import next_step
from skbo_silbo.inspection._evaluations import read_evaluations

VOID = {"meta", "br", "link"}
UP_TO_ONE = loguniform(0.1, 1.0)


class Reader(HTMLParser):
    """Check that tags are closed in order; collect headings, cells and addresses."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.addresses, self.sections = [], [], [], {}
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.heading = None

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "h2" in self.open:
            self.heading = data
            self.sections[data] = ""
        elif self.sections and "section" in self.open:
            self.sections[self.heading] += data + " "


@pytest.fixture(autouse=True)
def without_pictures(request, few_draws, monkeypatch):
    """Draw nothing, because most tests read the text of a page."""
    if "with_pictures" not in request.fixturenames:
        monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.fixture
def with_pictures():
    """Marks the tests that need pictures."""


def told_optimizer(space, n=14, **options):
    optimizer = SILBO(space, random_state=0)
    points = optimizer.ask(n)
    values = [sum(v for v in p.values() if isinstance(v, float)) for p in points]
    return optimizer.tell(points, values, **options)


def noisy_optimizer():
    """Return an optimiser whose lowest value, in row 17, is a lucky one."""
    means, noise = np.repeat([0.8, 0.0, 0.7, 1.5], 8), np.tile([-0.3, 0.3], 16)
    noise[16:24] = 0.3
    noise[17] = -1.4
    X = np.repeat([0.0, 0.3, 0.6, 0.9], 8)[:, None]
    return SILBO([(0, 1)], random_state=0).tell(X, means + noise)


def search_trees(**options):
    space = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 5, 25, 50]}
    tree = DecisionTreeClassifier(random_state=0)
    return SILBOSearchCV(tree, space, n_iter=8, cv=3, random_state=0, **options).fit(
        *load_iris(return_X_y=True)
    )


@pytest.mark.usefixtures("with_pictures")
def test_page_is_well_formed_and_self_contained():
    result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)] * 2, n_calls=14, random_state=0)
    page = report(result)
    read = Reader(page)
    assert read.addresses == []
    assert not re.search(r"https?:|@import|url\((?!#)", page)
    assert read.sections.keys() >= {"Next step", "Recommended point", "All evaluations"}
    assert "interval" in read.sections["Recommended point"]
    assert read.tags.count("script") == 1


def test_names_and_categories_are_escaped():
    name, category = "<script>alert(1)</script>", "<b>&\"'"
    page = report(told_optimizer({name: UP_TO_ONE, "kind": [category, "b"]}))
    assert Reader(page).tags.count("script") == 1
    assert "<script>alert" not in page
    assert category not in page
    assert "&lt;script&gt;alert(1)" in page


def test_failed_and_infeasible_evaluations_are_counted():
    optimizer = SILBO([(0, 1)], random_state=0)
    y = np.arange(12.0)
    y[:2] = np.nan
    constraints = np.where(np.arange(12) > 8, 1.0, -1.0)
    optimizer.tell(np.linspace(0, 1, 12)[:, None], y, constraints=constraints)
    counts = Reader(report(optimizer)).sections["Evaluations that do not count"]
    assert re.search(r"failed\s+2\b", counts)
    assert re.search(r"infeasible\s+3\b", counts)


def test_untried_category_is_listed():
    optimizer = SILBO({"C": UP_TO_ONE, "kind": ["a", "b", "c"]}, random_state=0)
    C = np.linspace(0.1, 1.0, 12)
    points = [{"C": c, "kind": "ab"[i % 2]} for i, c in enumerate(C)]
    seldom = Reader(report(optimizer.tell(points, C))).sections["Categories hardly tried"]
    assert re.search(r"kind\s+'c'\s+0\b", seldom)
    assert "'a'" not in seldom


@pytest.mark.slow
@pytest.mark.usefixtures("with_pictures")
def test_dollar_signs_in_names_are_drawn():
    pytest.importorskip("matplotlib")
    page = report(told_optimizer({"$a": UP_TO_ONE, r"$\frac": UP_TO_ONE}))
    assert "<svg" in page
    assert r"$\frac" in page


def test_study_of_another_sampler_is_reported():
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        if trial.number > 3:
            trial.report(x**2 - 5.0, step=0)
        if trial.number % 4 == 3:
            raise optuna.TrialPruned
        return x**2 + (trial.suggest_float("y", 0, 1) if trial.number % 2 else 0.0)

    study.optimize(objective, n_trials=16)
    sections = Reader(report(study)).sections
    assert re.search(r"Evaluations\s+16\b", sections["What was searched"])
    assert "x" in sections["Recommended point"].split()
    assert re.search(r"\s2 -?\d\.\d+ \d\S* ok ", sections["All evaluations"])
    assert re.search(r"\s3 -?\d\.\d+ pruned ", sections["All evaluations"])
    evaluations = read_evaluations(study)
    assert evaluations.n_initial == 0
    assert np.nanargmin(evaluations.values) == study.best_trial.number  # not a pruned one
    assert np.isnan(evaluations.values[3::4]).all()


def test_best_params_are_named_only_if_they_are_the_best():
    search = search_trees(refit=lambda results: 0)
    best = np.argmax(search.cv_results_["mean_test_score"])
    assert best != 0
    assert "best_params_" not in Reader(report(search)).sections["Recommended point"]


def test_tables_replace_pictures_without_matplotlib():
    optimizer = told_optimizer({"C": UP_TO_ONE, "b": UP_TO_ONE})
    page = report(optimizer)
    assert "<svg" not in page
    assert "Table of C" in page
    best = Reader(page).sections["Best so far"].split()
    assert f"{optimizer.best_y_:.5g}" in best


def test_pareto_front_lists_rows():
    search = search_trees(refit=["score", "fit_time"])
    sections = Reader(report(search)).sections
    assert "Recommended point" not in sections
    assert "max_depth" in sections["Pareto front"]
    assert "Pareto front" in sections["Next step"]
    assert "highest score, lowest fit_time" in sections["What was searched"]
    rows = sorted(map(str, search.pareto_front_))
    assert rows == sorted(re.findall(r"\s(\d+) 0\.\d+ 0\.\d+", sections["Pareto front"]))


def test_journal_shows_front_of_search(path):
    scoring = {"acc": "accuracy", "loss": "neg_log_loss"}
    search = search_trees(refit=["acc", "loss", "fit_time"], scoring=scoring, journal=path)
    of_journal, of_search = (Reader(report(s)).sections for s in (path, search))
    for name in ("Pareto front", "Next step"):
        assert of_journal[name] == of_search[name]
    assert "mean test acc (of 3 objectives)" in of_journal["Best so far"]
    assert {"acc", "loss", "fit_time"} <= set(of_journal["All evaluations"].split())
    frame = search.evaluation_table()
    assert frame["fit_time"] == search.cv_results_["mean_fit_time"].tolist()


def test_decimals_follow_the_spread():
    optimizer = SILBO([(0, 1)], random_state=0)
    X = np.linspace(0, 1, 20)[:, None]
    optimizer.tell(X, 1e5 + X[:, 0])
    sections = Reader(report(optimizer)).sections
    assert "100000.26" in sections["All evaluations"]
    assert re.search(r"value: \S*\d\.\d", sections["Recommended point"])


def test_score_is_reported_in_its_sign():
    search = search_trees()
    text = Reader(report(search)).sections["Recommended point"]
    value = float(re.search(r"(?:Expected|Observed) mean test score: (\S+?)\.? ", text)[1])
    assert 0.8 < value < 1.0


def test_lucky_best_value_is_explained():
    sections = Reader(report(noisy_optimizer())).sections
    text = sections["Recommended point"]
    assert text.split()[:2] == ["Row", "8."]
    assert "; observed: -0.3, 0.3, -0.3, 0.3, -0.3" in text
    assert "The best observed value, -0.7, is in row 17 (best_x_). The best of many noisy" in text
    assert re.search(r"\s17 -0\.7\b", sections["Best so far"])
    assert re.search(r"\s17 0\.6 -0\.7 ok", sections["All evaluations"])


def test_tied_best_value_is_not_called_lucky():
    optimizer = SILBO([(0.0, 1.0)], n_initial=6, random_state=0)
    x = np.repeat(np.linspace(0.0, 1.0, 8), 2)[:, None]
    optimizer.tell(x, np.round(10.0 * (x[:, 0] - 0.4) ** 2))
    optimizer.ask()
    assert "lucky" not in report(optimizer)


def test_equal_values_are_noticed():
    page = report(minimize(lambda x: 1.0, [(-1.0, 1.0)] * 2, n_calls=14, random_state=0))
    assert "all values are equal" in page


@pytest.mark.filterwarnings("ignore::skbo_silbo.optimizers.history.BeyondModelWarning")
def test_values_too_large_for_models_are_reported():
    page = report(minimize(lambda x: 1e160 * (x[0] - 0.3), [(-1.0, 1.0)] * 2, n_calls=14))
    assert "Next step" in page


@pytest.mark.slow
def test_initial_result_can_be_recommended():
    told = {"params": [{"max_depth": 2, "min_samples_leaf": 1}] * 9, "mean_test_score": [1.0] * 9}
    search = search_trees(initial_results=told, initial_params=None)
    text = Reader(report(search)).sections["Recommended point"]
    assert text.startswith("A candidate of initial_results. Expected mean test score")


def test_noise_decides_what_to_do_next(monkeypatch):
    expected_gain = SILBO.expected_gain  # fits the model
    monkeypatch.setattr(SILBO, "expected_gain", lambda *args: min(expected_gain(*args), 1e-4))
    noisy = read_evaluations(noisy_optimizer())
    assert next_step(noisy).startswith("Evaluate the recommended point again")
    search = replace(noisy, name="mean test score")
    assert next_step(search).startswith("Score the recommended parameters on other splits")
    X = np.linspace(0, 1, 20)[:, None]
    exact = SILBO([(0, 1)], random_state=0).tell(X, np.sin(X[:, 0]))
    assert next_step(read_evaluations(exact)).startswith("Stop: another evaluation")


def test_model_that_predicts_nothing_is_not_followed():
    X = np.random.default_rng(0).uniform(size=(24, 2))
    noise = np.random.default_rng(1).normal(size=24)
    advice = next_step(read_evaluations(SILBO([(0, 1)] * 2, random_state=0).tell(X, noise)))
    assert advice.startswith("Evaluate about 12 more random or space-filling points")


def test_number_of_missing_values_is_advised():
    optimizer = SILBO([(0, 1)] * 2, n_initial=20, random_state=0)
    optimizer.tell(np.linspace(0, 1, 10)[:, None].repeat(2, axis=1), np.arange(10.0))
    assert next_step(read_evaluations(optimizer)).startswith("Continue with at least 10 more")


def test_shares_are_sorted_and_their_sum_explained():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 3))
    optimizer = SILBO([(-1, 1)] * 3, random_state=0).tell(X, X[:, 0] * X[:, 1] + 0.3 * X[:, 1])
    text = Reader(report(optimizer)).sections["What matters"]
    assert "sum to more than 100 %" in text
    table = text[text.index("90 % interval ") :]
    shares = [int(share) for share in re.findall(r"x\d (\d+) \d+ to \d+", table)]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)


def test_numbers_are_rounded_and_unusable_values_counted():
    optimizer = told_optimizer({"a": UP_TO_ONE, "b": [0.123456789, 2]})
    sections = Reader(report(optimizer.tell({"a": 0.5, "b": 2}, np.nan))).sections
    assert not re.search(r"\d\.\d{6}", " ".join(sections.values()))
    facts = sections["What was searched"]
    assert re.search(r"Evaluations\s+15\s+In the model\s+14\b", facts)


def test_candidate_outside_space_is_named():
    tree, space = DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [5, 10, 15, 20]}
    search = SILBOSearchCV(tree, space, n_iter=4, random_state=0).fit(*load_iris(return_X_y=True))
    facts = Reader(report(search)).sections["What was searched"]
    assert re.search(
        r"In the model\s+3 \(row 0, the untuned model, lies outside the search space\)", facts
    )
    given = [{"min_samples_leaf": leaf} for leaf in (2, 5, 30)]
    with pytest.warns(UserWarning, match="2 of 3 initial_params are outside"):
        search.set_params(initial_params=given).fit(*load_iris(return_X_y=True))
    assert "(rows 0, 2 lie outside the search space)" in report(search)


def test_journal_is_read_while_search_runs(path):
    space, pages = {"C": UP_TO_ONE, "kind": ["a", "b", "c"]}, []

    def write(progress):
        pages.append(report(path))

    options = {"n_calls": 3, "n_initial": 3, "journal": path, "callback": write}
    minimize(lambda x: (x["C"] - 0.3) ** 2, space, **options, random_state=0)
    facts = Reader(pages[1]).sections["What was searched"]
    assert re.search(r"Evaluations\s+2\b", facts)
    assert "0.1 to 1, logarithmic" in facts


def test_journal_shows_the_evaluated_values(path):
    def fails_right(x):
        return float("nan") if x[0] > 0.9 else x[0]

    options = {"n_calls": 8, "n_initial": 4, "x0": [[0.95, 0.5]], "journal": path}
    result = minimize(fails_right, [(0, 1)] * 2, **options, random_state=0)
    content = path.read_bytes()
    path.write_bytes(content + b'{"n": 99, "observed": [[0.')  # a line that is being written
    table = Reader(report(path)).sections["All evaluations"]
    shown = [f"{value:.5g}" for value in result.func_vals if np.isfinite(value)]
    assert {*shown, *result.sources} <= set(table.split())
    assert "failed" in table


def test_search_journal_shows_metric_scores_and_sources(path):
    search = search_trees(scoring="balanced_accuracy", journal=path)
    sections = Reader(report(path)).sections
    assert "SILBOSearchCV of DecisionTreeClassifier" in sections["What was searched"]
    assert "highest mean test balanced_accuracy" in sections["What was searched"]
    table = sections["All evaluations"].split()
    assert {f"{score:.5g}" for score in search.cv_results_["mean_test_score"]} <= set(table)
    assert set(search.cv_results_["source"]) <= set(table)


def test_command_writes_report_next_to_journal(path, tmp_path, capsys):
    minimize(lambda x: x[0], [(0, 1)], n_calls=4, n_initial=4, journal=path, random_state=0)
    assert main(["report", str(path)]) == 0
    assert "All evaluations" in (tmp_path / "run.html").read_text(encoding="utf-8")
    (tmp_path / "other").write_text("text", encoding="utf-8")
    assert main(["report", str(tmp_path / "other")]) == 1
    assert "journal" in capsys.readouterr().err


def test_report_without_evaluations_raises():
    with pytest.raises(NotFittedError, match="evaluations"):
        report(SILBO([(0, 1)]))


@pytest.mark.slow
@pytest.mark.usefixtures("with_pictures")
def test_browser_sorts_the_table(tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium is installed")
    result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)] * 2, n_calls=14, random_state=0)
    click = "[...document.querySelectorAll('thead th')].findLast(h => h.textContent == 'value')"
    page = report(result).replace("</body>", f"<script>{click}.click()</script></body>")
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]
    shown = subprocess.run(
        [browser, *options], check=True, capture_output=True, text=True, timeout=300
    )
    table = shown.stdout[shown.stdout.index("<h2>All evaluations") :]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]
    values = [float(re.findall(r'data-key="([^"]*)"', row)[2]) for row in rows]
    assert values == sorted(result.func_vals)


def test_exhausted_space_is_not_continued():
    page = report(minimize(lambda p: p["row"], {"row": [1, 2]}, n_calls=9, random_state=0))
    sections = Reader(page).sections
    assert sections["Next step"].strip() == "Stop: every point of the search space was evaluated."
    assert "row row_" in sections["All evaluations"] or "row_ row" in sections["All evaluations"]


def test_journal_knows_current_parameters(path):
    space = {"criterion": ["gini", "entropy"], "ccp_alpha": [0.0, 0.1], "max_depth": [None, 3]}
    search = SILBOSearchCV(DecisionTreeClassifier(), space, n_iter=6, random_state=0, journal=path)
    report(search.fit(*load_iris(return_X_y=True)))
    assert "outside the search space" not in report(path)


def test_title_names_the_search_and_its_data():
    tree = re.search(r"<h1>(.*?)</h1>", report(search_trees()))[1]
    assert tree.startswith(
        "Report: SILBOSearchCV of DecisionTreeClassifier, 150 samples of 4 features, 3 splits, "
    )

    def cost(x):
        return x[0]

    result = minimize(cost, [(0, 1)] * 2, n_calls=4, n_initial=4, random_state=0)
    assert re.search(r"<h1>Report: .*\bcost, 2 inputs, \d{4}-\d\d-\d\d</h1>", report(result))
    assert "<h1>A &amp; B</h1>" in report(result, title="A & B")


def test_gain_of_exact_objective_is_over_best_value():
    X = np.random.default_rng(0).uniform(0.3, 1.0, (12, 2))
    optimizer = SILBO([(0, 1)] * 2, random_state=0).tell(X, X[:, 0] + 0.3 * X[:, 1])
    assert "improve on the best observed value by" in next_step(read_evaluations(optimizer))
    noisy = noisy_optimizer()  # its lowest value is far below the posterior mean
    assert noisy.expected_gain("observed") < 0.5 * noisy.expected_gain()
    scores = replace(read_evaluations(optimizer), name="mean test score")
    assert "improve on the recommended point by" in next_step(scores)
    with pytest.raises(ValueError, match="over must be one of"):
        optimizer.expected_gain("best")


def test_best_value_at_limit_of_range_is_named():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(1.0, 100.0, (19, 2)), [[100.0, 3.0]]])
    points = [{"a": a, "b": b} for a, b in X]
    space = {"a": uniform(1.0, 99.0), "b": uniform(1.0, 99.0)}
    optimizer = SILBO(space, random_state=0).tell(points, (X[:, 1] - 40.0) ** 2 / 1e3 - X[:, 0])
    text = Reader(report(optimizer)).sections["Recommended point"]
    assert "a is at the upper limit of its range. If values beyond" in text
    assert "b is at" not in text
    result = minimize(lambda x: x[0] + x[1], [(0, 1)] * 2, n_calls=14, random_state=0)
    text = Reader(report(result)).sections["Recommended point"]
    assert "x1 is at the lower limit of its range. If values beyond are possible" in text


def test_reason_for_the_end_decides_what_to_do_next():
    options = {"n_calls": 20, "n_initial": 4, "random_state": 0}
    ends = {"target": {"target": 5.0}, "callback": {"callback": lambda progress: True}}
    steps = {}
    for reason, limit in ends.items():
        result = minimize(lambda x: x[0] + x[1], [(0, 1)] * 2, **options, **limit)
        assert result.stop_reason == reason
        steps[reason] = next_step(read_evaluations(result))
    assert steps["target"] == "Stop: the target was reached."
    assert "more evaluations, if the callback that ended the search allows it:" in steps["callback"]


def test_journal_shows_constraints_and_none(path):
    space = {"a": uniform(), "b": [None, 3]}

    def func(p):
        if p["a"] > 0.8:
            raise OSError("no space")
        return p["a"], [p["a"] - 0.5]

    options = {
        "catch": OSError,
        "n_calls": 8,
        "n_initial": 8,
        "n_constraints": 1,
        "random_state": 0,
    }
    result = minimize(func, space, **options, journal=path)
    pages = [Reader(report(source)).sections["All evaluations"] for source in (result, path)]
    assert pages[0] == pages[1]
    assert "constraint_0" in pages[0].split()
    assert "None" in pages[0].split()


def test_study_counts_trials_not_rows():
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.enqueue_trial({"x": 0.5})
    study.ask()  # runs for ever
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=12)
    sections = Reader(report(study)).sections
    best = study.best_trial
    assert f"in trial {best.number}" in sections["Recommended point"] or (
        f"Trial {best.number}." in sections["Recommended point"]
    )
    assert re.search(rf"\s{best.number} {best.value:.3g}"[:-1], sections["Best so far"])


@pytest.mark.filterwarnings("ignore::skbo_silbo.FirstPointsOnlyWarning")
@pytest.mark.parametrize("space", [[(0, 1)] * 2, {"a": uniform()}, [{"a": ["x"]}, {"b": [1, 2]}]])
def test_report_before_first_value_asks_to_wait(space, path):
    pages = []

    def cost(point):
        pages.append(report(path))
        return 0.0

    minimize(cost, space, n_calls=1, n_initial=1, journal=path, random_state=0)
    assert "Wait, and make the report again" in Reader(pages[0]).sections["Next step"]


def test_space_in_which_everything_failed_is_named(path):
    search = SILBOSearchCV(SVC(), {"C": uniform(-5, 4)}, n_iter=3, cv=2, journal=path)
    with pytest.raises(ValueError, match="fits failed"):
        search.fit(*load_iris(return_X_y=True))
    assert "Check the search space" in Reader(report(path)).sections["Next step"]
