"""Compare our search with the best other one on every kind of public problem: who-wins.csv.

Further tables compare it with peers on Gaussian processes, on the functions that they ran on
(beside-processes.csv), with itself given the active inputs (active-inputs.csv), and by processor
time, in pairs on one kind of processor (beside-seconds.csv). Shares of the gap closed are those of
the pages of the suites. Differences have one value a function, so that its runs do not count as
independent. Ahead is who differs by Student's t at 5 %, two-sided, after Holm's correction over the
rows of the table. To write the tables::

    python doc/benchmarks/scripts/who_wins.py --write
"""

import csv
import sys
from collections import defaultdict

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from scipy.stats import ttest_1samp

from benchmarks.engine import Store
from benchmarks.experiments._comparisons import holm, signs_of, with_plus_minus
from benchmarks.experiments._public_suites import EXPENSIVE
from benchmarks.experiments._tuning_public import with_the_default
from benchmarks.search.gap_closed import FEWEST_JUDGED, compared, gap_runs

TABLE, PROCESSES = TABLES / "who-wins.csv", TABLES / "beside-processes.csv"
ACTIVE, SECONDS = TABLES / "active-inputs.csv", TABLES / "beside-seconds.csv"
LAST = ["difference", "functions", "runs", "p, Holm", "ahead"]
HEADER = ["problems", "evaluations", "ours", "best other", *LAST]
HEADER_PROCESSES = ["problems", "evaluations", "ours", "other", *LAST]
HEADER_SECONDS = ["inputs", "other", "pairs", "ours, s", "other, s", "other / ours", "range"]
HEADER_ACTIVE = ["bbob function", "given the five inputs", "planted", "rotated"]
KINDS = {
    "bbob, 10 and 20 inputs": "native",
    "bbob, 5 directions of 100": "rotated",
    "bbob, 5 of 100 inputs": "planted",
}
DEVELOPED_ON = {  # tasks that decisions about the search were made on
    *("hpobench-australian", "hpobench-car", "hpobench-kc1", "hpobench-segment"),
    *("hpolib-naval-propulsion", "hpolib-protein-structure"),
    *("nasbench201-cifar10", "nasbench201-imagenet", "neighbours", "conditional"),
}
NAMES = {"optuna-tpe": "TPE", "cma": "CMA-ES", "random": "random", "sobol": "Sobol"}


def read(*names):
    """Return the results of files."""
    return [result for name in names for result in Store(RESULTS / f"{name}.jsonl").read()]


def as_minimised(results):
    """Return the scores of tuning as `gap_runs` reads values; chance is random search's mean."""
    results = with_the_default([r for r in results if r["status"] == "ok"])
    lowest = [-np.fmax.accumulate(np.array(r["scores"], float)) for r in results]
    chance = defaultdict(list)
    for r, values in zip(results, lowest, strict=True):
        if r["method"] == "random":
            chance[r["problem"]["task"]].append(values[49])
    return [
        r
        | {"steps": list(enumerate(values.tolist(), 1))}
        | {"chance": {"50": np.mean(chance[r["problem"]["task"]])}}
        for r, values in zip(results, lowest, strict=True)
    ]


def shares_by_method(runs, n):
    """Return the shares after n evaluations: {method: {function: [share]}}."""
    shares = defaultdict(lambda: defaultdict(list))
    for run in runs:
        name = run.problem.get("function", run.problem.get("task"))
        shares[run.method][str(name)].append(run.share(n))
    return shares


def best_other(shares):
    """Return the method of the greatest mean among those that ran as often as ours."""
    means = {method: np.mean(np.concatenate(list(own.values()))) for method, own in shares.items()}
    n_runs = sum(map(len, shares["silbo"].values()))
    full = [m for m in NAMES if sum(map(len, shares[m].values())) == n_runs]
    return max(full, key=means.get)


def leads_of(shares, other):
    """Return our mean share less that of another method, one a function, an ndarray."""
    ours, theirs = shares["silbo"], shares[other]
    return np.array([np.mean(ours[name]) - np.mean(theirs[name]) for name in ours])


def judged(rows):
    """Return the rows of a table, cells and (shares, other) each, with who is ahead."""
    leads = [leads_of(*pair) for _, pair in rows]
    p_values = holm([float(ttest_1samp(own, 0.0).pvalue) for own in leads])
    signs = signs_of([own.mean() for own in leads], p_values)
    return [
        [*cells, *beside(*pair, own), f"{p:.2g}", ("not decided", "ours", name_of(pair[1]))[sign]]
        for (cells, pair), own, p, sign in zip(rows, leads, p_values, signs, strict=True)
    ]


def beside(shares, other, leads):
    """Return the cells of a row: shares, difference with its standard error, functions and runs."""
    ours, theirs = shares["silbo"], shares[other]
    means = [np.mean([np.mean(own[name]) for name in ours]) for own in (ours, theirs)]
    n_runs = sum(map(len, theirs.values()))
    shown = [f"{means[0]:.2f}", f"{means[1]:.2f} ({name_of(other)})"]
    return [*shown, with_plus_minus(leads), len(leads), n_runs]


def name_of(method):
    """Return the name of a method in the tables."""
    return NAMES.get(method, method)


def of_kind(runs, *kinds):
    """Return the runs of problems of these kinds."""
    return [run for run in runs if run.problem["kind"] in kinds]


def where_ours_ran(runs):
    """Return the runs on functions and seeds that our search was run on."""
    places = {run.place for run in runs if run.method == "silbo"}
    return [run for run in runs if run.place in places]


def rows():
    """Return the rows of the table."""
    bbob, long = (
        where_ours_ran(gap_runs(read(*names)))
        for names in (("public-silbo", "public-peers"), ("public-long",))
    )
    tasks = gap_runs(as_minimised(read("tuning_public")))
    unused = [run for run in tasks if run.problem["task"] not in DEVELOPED_ON]
    suites = [("20 tuning tasks", tasks, [50])]
    suites += [("the 10 of them that no decision used", unused, [50])]
    for title, kind in KINDS.items():
        suites += [(title, of_kind(bbob, kind), [50, 100]), (title, of_kind(long, kind), [250])]
    shares = [
        ([title, n], shares_by_method(runs, n)) for title, runs, counts in suites for n in counts
    ]
    return judged([(cells, (own, best_other(own))) for cells, own in shares])


def process_rows(n=100):
    """Return a row for each kind and peer on a Gaussian process, from ten runs on."""
    bbob = gap_runs(read("public-silbo", "public-peers"))
    pairs = [
        ([title.replace("10 and 20", "10"), n], peer, compared(of_kind(bbob, kind), n, methods))
        for title, kind in KINDS.items()
        for peer in EXPENSIVE
        for methods in [{"silbo", peer}]
    ]
    return judged(
        [
            (cells, (shares_by_method([r for own in both.values() for r in own], n), peer))
            for cells, peer, both in pairs
            if len(both.get(peer, ())) >= FEWEST_JUDGED
        ]
    )


def active_rows(n=100):
    """Return a row for each function, means of ours on the same instances, and one of all."""
    bbob, active = gap_runs(read("public-silbo")), gap_runs(read("public-active"))
    seeds = {run.place[1] for run in bbob}
    active = [run for run in active if run.place[1] in seeds]
    runs = [active, of_kind(bbob, "planted"), of_kind(bbob, "rotated")]
    shares = [shares_by_method(own, n)["silbo"] for own in runs]
    table = {f: [np.mean(own[f]) for own in shares] for f in sorted(shares[0])}
    means = np.mean(list(table.values()), axis=0)
    table |= {"mean": means, "of the first": means / means[0]}
    return [[name, *(f"{share:.2f}" for share in row)] for name, row in table.items()]


def seconds_rows():
    """Return a row for each method and number of inputs: seconds of 100 proposals, in pairs.

    Both runs of a pair were made from one revision on one kind of processor, that is, in one
    session: the same processor can take twice as long in another.
    """
    seconds = {
        (r["method"], *_session(r), r["problem"]["d"], _place(r)): r["seconds"][-1][1]
        for r in read("public-high")
        if r["status"] == "ok"
    }
    pairs = defaultdict(list)
    for (method, *place), theirs in seconds.items():
        if method in {"optuna-tpe", "botorch-gp"} and ("silbo", *place) in seconds:
            d = place[-2]
            pairs[d, name_of(method)].append((seconds["silbo", *place], theirs))
    table = []
    for (d, other), own in sorted(pairs.items()):
        ours, theirs = np.transpose(own)
        times = theirs / ours
        middles = [f"{np.median(values):.1f}" for values in (ours, theirs, times)]
        table.append([d, other, len(own), *middles, f"{times.min():.1f} to {times.max():.1f}"])
    return table


def _session(result):
    return result["environment"]["cpu"], result["environment"]["revision"]


def _place(result):
    return result["problem"]["function"], result["repeat"]


def main():
    """Print the tables, and write them if asked to."""
    parser = make_parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables")
    options = parser.parse_args()
    tables = {
        TABLE: [HEADER, *rows()],
        PROCESSES: [HEADER_PROCESSES, *process_rows()],
        ACTIVE: [HEADER_ACTIVE, *active_rows()],
        SECONDS: [HEADER_SECONDS, *seconds_rows()],
    }
    for path, table in tables.items():
        csv.writer(sys.stdout).writerows(table)
        if options.write:
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
