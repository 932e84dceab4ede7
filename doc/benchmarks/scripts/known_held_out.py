"""Known candidates of which families are better: scores on rows and tables that chose none.

::

    python doc/benchmarks/scripts/known_held_out.py run SECONDS  # of CPU time; resumes
    python doc/benchmarks/scripts/known_held_out.py report       # tables/known-held-out.csv

The rule was fixed before the runs. The untuned model and its known candidates are compared with the
untuned model and nine random candidates. The candidate with the best cross-validated score counts
(of large tables: with the best score on holdout rows), by its score on rows that neither fitted nor
chose it: the share of the gap from the median random candidate to the best score seen, at least -1.
The differences of a table are averaged over the draws of its rows. A family passes
for tables of a size if the mean over the tables is positive and its two-sided p value (t test),
corrected by Holm's method over all families and sizes that have candidates, is at most 0.05.

The tables are those of ``known_data.JUDGED``, and for large ones also `LARGER`; none of them chose
a candidate. Candidates that ``known_families.py`` chose are also judged on its own tables, each
with the candidates that the other tables choose. Rows of ``known_judge.py`` are used again.
"""

import json
import time
import warnings
from collections import defaultdict

import known_families
import known_judge
import numpy as np
from checkout import RESULTS, make_parser
from known_data import JUDGED, parted, r_data
from known_families import FAMILIES, SMALL, Shares
from scipy.stats import ttest_1samp
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import ParameterSampler

FILE = RESULTS / "known_held_out.jsonl"
POOL = 24  # random candidates
LARGE_ROWS, MOST_CHOOSING, MOST_OTHERS = 1200, 1000, 1500
LEVEL = 0.05
LARGER = {  # package/item: response, and columns that give it away or only number the rows
    "classification": {
        "modeldata/cells": ("class", "case"),
        "modeldata/wa_churn": ("churn", ""),
        "modeldata/taxi": ("tip", ""),
        "modeldata/stackoverflow": ("Remote", ""),
        "wooldridge/k401ksubs": ("e401k", "p401k"),
        "wooldridge/charity": ("respond", "gift"),
        "wooldridge/alcohol": ("abuse", ""),
        "wooldridge/cps91": ("inlf", "lwage hrwage hours earns faminc"),
        "ISLR/Default": ("default", ""),
    },
    "regression": {
        "modeldata/ames": ("Sale_Price", ""),
        "wooldridge/card": ("lwage", "wage id"),
        "wooldridge/wagepan": ("lwage", "nr"),
        "wooldridge/fertil2": ("children", "ceb"),
        "wooldridge/twoyear": ("lwage", "id"),
        "wooldridge/meap01": ("math4", "dcode bcode"),
        "wooldridge/mathpnl": ("math4", "cmath4 distid intid"),
        "wooldridge/crime1": ("narr86", "nfarr86 nparr86"),
        "AER/NMES1988": ("visits", ""),
        "AER/DoctorVisits": ("visits", ""),
        "carData/GSSvocab": ("vocab", ""),
        "Ecdat/Males": ("wage", "nr"),
        "Ecdat/Star": ("tmathssk", "treadssk schidkn"),
    },
}
CHOOSING = ("modeldata/credit_data", "modeldata/mlc_churn", "openintro/email")  # of known_families
# Families with candidates, the draws of the rows of a table, and the most tables of each kind.
PLAN = {
    "small": {
        "LogisticRegression": ((0, 1), 20),
        "SVC": ((0, 1), 20),
        "KNeighbors": ((0, 1), 20),
        "DecisionTree": ((0, 1), 20),
        "GaussianNB": ((0, 1), 20),
        "Ridge": ((0, 1), 20),
        "ElasticNet": ((0, 1), 20),
        "SVR": ((0, 1), 20),
        "KernelRidge": ((0, 1), 20),
        "LinearSVC": ((0, 1), 20),
        "Lasso": ((0, 1), 20),
        "ExtraTrees": ((0,), 20),
        "RandomForest": ((0,), 20),  # classifiers only: regressors have no candidates
        "XGBoost": ((0,), 12),
    },
    "large": {
        "LogisticRegression": ((0,), 20),
        "GaussianNB": ((0,), 20),
        "SVC": ((0,), 20),
        "SVR": ((0,), 20),
        "ExtraTrees": ((0,), 20),
        "XGBoost": ((0,), 20),
        "LightGBM": ((0,), 20),
    },
}
OF_FAMILIES = {("small", name) for name in ("XGBoost", "LinearSVC", "Lasso")}
OF_FAMILIES |= {("large", name) for name in PLAN["large"]}  # chosen by known_families.py
EXPENSIVE = ("SVR", "ExtraTrees", "LightGBM", "XGBoost", "RandomForest")
UNJUDGED = {
    ("small", name) for name in ("GaussianNB", "Ridge", "KernelRidge", "RandomForest", "ExtraTrees")
}


def tables(size, name):
    """Yield kind, name and arguments of `r_data` of the tables of a family."""
    for kind, sets in JUDGED.items():
        family = FAMILIES[name]
        has_none = (name, kind) == ("RandomForest", "regression")
        if has_none or not family.key(is_classification=kind == "classification"):
            continue
        every = sets | (LARGER[kind] if size == "large" else {})
        if (size, name) in OF_FAMILIES:
            every = {data: columns for data, columns in every.items() if data not in CHOOSING}
        for data, columns in list(every.items())[: None if size == "large" else most(name)]:
            yield kind, data, columns


def most(name):
    return PLAN["small"][name][1]


def run(seconds):
    """Measure what is missing until so many seconds of CPU are used.

    Cheap families come first, then first draws, and of these families without other rows.
    """
    end = time.process_time() + seconds
    done = {(r["size"], r["family"], r["data"], r["draw"]) for r in rows_of(with_judged=True)}
    plan = [
        (name in EXPENSIVE, draw, (size, name) not in UNJUDGED, size, name)
        for size, families in PLAN.items()
        for name, (draws, _) in families.items()
        for draw in draws
    ]
    for _, draw, _, size, name in sorted(plan, key=lambda own: own[:3]):
        for kind, data, columns in tables(size, name):
            if (size, name, data, draw) in done or time.process_time() > end:
                continue
            found = measure(size, name, kind, *r_data(data, *columns), draw)
            if found is not None:
                row = {"size": size, "family": name, "data": data, "draw": draw, **found}
                with FILE.open("a") as file:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")


def measure(size, name, kind, X, y, draw):
    """Return scores of known and random candidates on rows that choose and on others, or None."""
    model = FAMILIES[name].estimator(is_classification=kind == "classification")
    if size == "small":
        X, y, X_others, y_others = parted(X, y, SMALL, draw)
        _, parts = known_judge.parts_of(kind, X, y, X_others, y_others)
        score = known_judge.scores_of
    else:
        order = np.random.default_rng(draw).permutation(len(y))
        n_choosing = min(MOST_CHOOSING, (len(y) - LARGE_ROWS) // 2)
        if n_choosing < 300:
            return None
        ends = np.cumsum([LARGE_ROWS, n_choosing, MOST_OTHERS])
        own, chooses, others = np.split(order, ends)[:3]
        pairs = [known_judge.scaled(X[own], y[own], X[r], y[r]) for r in (chooses, others)]
        X, y, parts, score = X[own], y[own], pairs, holdout_scores
    _, space, known = known_judge.task_of(model, X, y)
    with warnings.catch_warnings():  # of fewer points than draws
        warnings.simplefilter("ignore")
        drawn = list(ParameterSampler(space, POOL, random_state=draw))
    return {
        "known": [score(model, p, parts) for p in [{}, *known]],
        "random": [score(model, p, parts) for p in drawn],
    }


def holdout_scores(model, params, parts):
    """Return the scores of a model that is fitted once, on choosing and on other rows."""
    model = clone(model).set_params(**{n.partition("__")[2]: v for n, v in params.items()})
    fast = config_context(assume_finite=True, skip_parameter_validation=True)
    with fast, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model.fit(*parts[0][:2])
        return [float(f"{known_judge.score_of(model, *part[2:]):.4g}") for part in parts]


def rows_of(*, with_judged=False):
    """Return the rows of the results, and if wanted those of known_judge.py as draw 0."""
    rows = [json.loads(line) for line in FILE.open()] if FILE.exists() else []
    if with_judged:
        classes = {
            family.key(is_classification=c).removeprefix("sklearn."): name
            for name, family in FAMILIES.items()
            for c in (True, False)
        }
        rows += [
            {"size": "small", "family": classes[r["class"]], "draw": 0, **r}
            for r in known_judge.read()
            if classes.get(r["class"]) in PLAN["small"]
        ]
    return rows


# --- report --------------------------------------------------------------------------------------


def differences():
    """Return a dict: of every size and family the differences of its tables, a dict by table."""
    found = defaultdict(lambda: defaultdict(list))
    for row in rows_of(with_judged=True):
        gains = known_judge.gains(row)
        if gains is not None:
            ahead = gains["10, known"] - gains["10, random after as it is"]
            found[row["size"], row["family"]][row["data"]].append(ahead[1])
    for size, name in OF_FAMILIES:
        shares = Shares.read(name)
        data = [d for s, d in zip(shares.sizes, shares.data, strict=True) if s == size]
        for table, row in zip(data, known_families.judge(shares, size), strict=True):
            found[size, name][table].append(row[5] - row[6])
    order = [(size, name) for size in PLAN for name in PLAN[size]]
    return {k: {t: np.mean(v) for t, v in found[k].items()} for k in order if k in found}


def verdicts():
    """Return for every size and family: tables, mean, standard error, p, Holm's p, whether kept."""
    found = {key: np.array(list(own.values())) for key, own in differences().items()}
    p = np.array([ttest_1samp(own, 0.0).pvalue for own in found.values()])
    corrected = holm(p)
    return {
        key: (
            len(own),
            own.mean(),
            own.std(ddof=1) / np.sqrt(len(own)),
            p[i],
            corrected[i],
            bool(own.mean() > 0 and corrected[i] <= LEVEL),
        )
        for i, (key, own) in enumerate(found.items())
    }


def holm(p):
    """Return the p values corrected by Holm's method."""
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def report():
    print("family,samples,tables,known - random 10 on other rows,p,p after Holm,passes")
    for (size, name), (n, mean, error, p, corrected, is_kept) in verdicts().items():
        samples = SMALL if size == "small" else LARGE_ROWS
        cells = [f"{mean:+.3f} ({error:.3f})", f"{p:.4f}", f"{corrected:.3f}"]
        print(name, samples, n, *cells, "yes" if is_kept else "no", sep=",")


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("seconds", type=float, nargs="?", default=0, help="for run")
    options = parser.parse_args()
    run(options.seconds) if options.command == "run" else report()
