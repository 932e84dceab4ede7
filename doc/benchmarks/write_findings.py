"""Write findings.rst from the results beside it, or check that the page says what they hold.

Run it at the top of the project, where the package is installed::

    python doc/benchmarks/write_findings.py           # fails when page and data differ
    python doc/benchmarks/write_findings.py --write

Every number of the page is computed here from the JSON lines of this folder, but for the published
means (`PUBLISHED` in paper_claims.py), which are the last points of the SILBO paper's curves.
Values are maximised on that page's first tables, as published. A test runs this file.
"""

import argparse
import difflib
import sys
from pathlib import Path

import numpy as np
from paper_claims import (
    ALIKE,
    CLAIMS,
    LACKING,
    N_PUBLISHED,
    PUBLISHED,
    R_RUN,
    RUN,
    SHORT,
    TEXTBOOK,
    TEXTBOOK_CLAIMS,
    TEXTBOOK_CLAIMS_1000,
)

from skbo_silbo.benchmarks.engine import Store, Table, curve, render_rst
from skbo_silbo.benchmarks.experiments._paper_figures import PAPER, within_slices
from skbo_silbo.benchmarks.search import (
    FEWEST,
    difference,
    search_report,
    told_difference,
    told_mean,
    verdict,
    verdict_of,
)

FOLDER = Path(__file__).parent
PAGE = FOLDER / "findings.rst"
PEERS = (
    *("silbo", "saas", "turbo", "botorch-gp", "optuna-gp"),
    *("scikit-optimize", "optuna-tpe", "cma", "random"),
)


class Results:
    """The results of one experiment, the last one of every cell."""

    def __init__(self, name):
        finished = [r for r in Store(FOLDER / f"{name}.jsonl").read() if r["status"] == "ok"]
        by_cell = {(str(r["problem"]), r["method"], r["repeat"]): r for r in finished}
        self.all = list(by_cell.values())

    def of(self, method, at=0, **problem):
        """Return the results of a method on a problem, with at least so many evaluations."""
        return [
            r
            for r in self.all
            if r["method"] == method
            and fits(r["problem"], problem)
            and r["problem"].get("n", 0) >= at
        ]

    def best(self, method, at, **problem):
        """Return {seed: highest value (maximised) after so many evaluations}."""
        runs = {r["repeat"]: r for r in self.of(method, at, **problem)}
        return {seed: -float(curve(runs[seed]["steps"], at)[-1]) for seed in sorted(runs)}

    def seconds(self, method, at, **problem):
        """Return {seed: processor seconds of the method itself up to so many evaluations}."""
        runs = {r["repeat"]: r["seconds"] for r in self.of(method, at, **problem)}
        return {seed: float(np.interp(at, *np.transpose(runs[seed]))) for seed in sorted(runs)}


def fits(problem, wanted):
    """Whether a problem is the one wanted, by what is told of that; noisy only if that is told."""
    told_of = wanted.items() - {("n", wanted.get("n"))}
    return told_of <= problem.items() and ("sd" in problem) == ("sd" in wanted)


def authors_table(paper, methods):
    """Paper, as run, as printed and random at equal true evaluations."""
    rows = []
    for (strategy, d, n), functions in PUBLISHED.items():
        for function, (mean, sd) in functions.items():
            names = (f"{SHORT[strategy]}-as-run", SHORT[strategy], "random")
            ours = [measured(paper, methods, m, n, function, d) for m in names]
            rows.append(
                (
                    f"{RUN[function]}, d = {d}, {strategy}",
                    str(n),
                    f"{mean:.4g} ± {sd / np.sqrt(N_PUBLISHED):.2g} ({N_PUBLISHED})",
                    *(
                        _beside(values, mean, sd) if values else LACKING[m, d, function]
                        for m, values in zip(names, ours, strict=True)
                    ),
                )
            )
    note = (
        "Means, maximised, with one standard error, runs in brackets; then whether ours is above "
        "the published mean (+), below it (-), or the difference open (=), by Welch's t at 95 %, "
        f"from {FEWEST} runs on. As run: the constants of the authors' code. As printed: the "
        "paper's. Every evaluation is counted; the published curves are read at that count too. "
        "Hartmann6 is one function, the authors' and the textbook's: top-down as printed stands "
        "there as the page methods has it, measured before its first embedding had unlabelled "
        "points."
    )
    header = ("problem", "evaluations", "published", "as run", "as printed", "random")
    return Table("The paper's strategies at their true cost", header, rows, note)


def measured(paper, methods, method, n, function, d):
    """Return the values of a method on a function as the authors ran it, of the page with more."""
    own = paper.best(method, n, function=function, d=d)
    other = methods.best(method, n, function=function, d=d, r=R_RUN[function])
    return max(own, other, key=len)


def _beside(ours, mean, sd):
    sign = verdict(np.array(list(ours.values())), mean, sd, N_PUBLISHED)
    return f"{told_mean(ours)} {sign if sign in '=+-' else ''}".strip()


def runs_table(paper):
    """How many runs of every method there are on the authors' problems."""
    rows = [(m, *(_told_runs(paper, m, d) for d in (100, 1000))) for m in PAPER.methods]
    note = (
        "Evaluations: runs of that length, 'a to b' where one function has a and another b of "
        "them. An empty cell was not run."
    )
    return Table("Runs of the authors' problems", ("method", "d = 100", "d = 1000"), rows, note)


def _told_runs(paper, method, d):
    counts = {}
    for function in RUN:
        own = [r["problem"]["n"] for r in paper.of(method, function=function, d=d)]
        for n in set(own):
            counts.setdefault(n, {})[function] = own.count(n)
    told = []
    for n, by_function in sorted(counts.items()):
        of_function = [by_function.get(function, 0) for function in RUN]
        least, most = min(of_function), max(of_function)
        told.append(f"{n}: {least}" if least == most else f"{n}: {least} to {most}")
    return "; ".join(told)


def claims_table(results, d, functions, claims, title, note):
    """Claims of the paper, each with the differences and the runs behind it."""
    rows = []
    for words, a, b, at, *about in claims:
        [about] = about or [tuple(functions)]
        paired = a.startswith("silbo-bu") and b.startswith("silbo-bu")
        sides = {
            f: (*(results.best(m, at, function=f, d=d) for m in (a, b)), paired) for f in about
        }
        found = [difference(*side) for side in sides.values()]
        cells = [told_difference(*sides[f]) if f in sides else "" for f in functions]
        rows.append((words, str(at), *cells, verdict_of(found, wants_level=ALIKE in words)))
    header = ("claim", "evaluations", *functions.values(), "verdict")
    return Table(f"The paper's claims, {title}", header, rows, f"{READ_DIFFERENCES} {note}")


def claims_tables(paper, methods):
    """The tables of claims on the three functions."""
    first = (
        "Problems as the authors ran them. Unlabelled points: the paper's pencil solved exactly, "
        "k = 3, alpha = 1, with 50 of them and without; with plain slices the same without k. "
        f"{EMPTY}"
    )
    then = (
        "Textbook problems, both sides measured at one revision, before the first embedding of "
        f"bottom-up had unlabelled points. {EMPTY}"
    )
    return [
        claims_table(paper, 100, RUN, CLAIMS[100], "d = 100", first),
        claims_table(paper, 1000, RUN, CLAIMS[1000], "d = 1000", first),
        *(
            claims_table(methods, d, TEXTBOOK, claims, f"textbook functions, d = {d}", then)
            for d, claims in ((100, TEXTBOOK_CLAIMS), (1000, TEXTBOOK_CLAIMS_1000))
        ),
    ]


def measured_claims(paper, methods, embedding):
    """Claims about one problem, or about another quantity than the best value."""
    network = {"function": "mlp_weights"}
    rows = [
        *(
            (
                f"bottom-up beats {b} on the network's weights, {at} evaluations (nats)",
                paper.best("silbo-bu", at, **network),
                paper.best(b, at, **network),
            )
            for b, at in (("rembo", 250), ("hesbo", 250), ("sir-bo", 250), ("random", 1600))
        ),
        (
            f"top-down and SIR-BO are {ALIKE} on the network's weights, 250 evaluations (nats)",
            paper.best("silbo-td", 250, **network),
            paper.best("sir-bo", 250, **network),
        ),
        *time_claims(paper, methods),
    ]
    told = [_told_claim(*row, paired=False) for row in rows]
    told += [_told_claim(*row, paired=True) for row in spreading_claims(embedding)]
    note = (
        f"{READ_DIFFERENCES} Times are those of the method, without the objective. Shares within "
        "slices are compared seed by seed."
    )
    return Table(
        "The paper's claims, other measures", ("claim", "difference", "verdict"), told, note
    )


def _told_claim(words, a, b, *, paired):
    if a and a == b:
        return words, "0", f"falls: the same in all {len(a)} runs"
    found = difference(a, b, paired)
    return words, told_difference(a, b, paired), verdict_of([found], wants_level=ALIKE in words)


def spreading_claims(embedding):
    """Claims of the paper's figures 5 and 6, and what else might spread the points."""
    about = (
        ("Algorithm 2 spreads the rows of a slice more than plain SIR", "paper", "sir"),
        ("Algorithm 2 does so by its localisation (k = 7)", "paper-labelled", "paper-plain"),
        ("Algorithm 2 does so by T, its unlabelled points", "paper", "paper-labelled"),
        ("localisation spreads them where k is below the slice (k = 3)", "paper-k-3", "paper"),
    )
    for words, *pair in about:
        for function, name in (("three_hump_camel", "camel"), ("branin", "Branin")):
            yield (
                f"{words}: {name}, d = 1000 (share of the variance within slices)",
                *(spread_by(embedding, method, function) for method in pair),
            )


def time_claims(paper, methods):
    """Claims of the paper's figure of cumulative times, and the same at d = 100."""
    network = {"function": "mlp_weights"}
    slower = [("silbo-td", b) for b in ("rembo", "sir-bo", "add-bo")] + [("rembo", "silbo-bu")]
    for d in (100, 1000):
        where = {"function": "branin", "d": d}
        for a, b in slower:
            words = f"{a} takes more time than {b}: Branin (r = 2), d = {d}, 250 evaluations (s)"
            yield words, methods.seconds(a, 250, **where), methods.seconds(b, 250, **where)
    told = "250 iterations on the network's weights (s)"
    yield (
        f"silbo-td and rembo take {ALIKE} times: {told}",
        paper.seconds("silbo-td", 250, **network),
        paper.seconds("rembo", 250, **network),
    )
    for b in ("rembo", "hesbo"):
        yield (
            f"silbo-bu, 1600 evaluations, takes more time than {b}: {told}",
            paper.seconds("silbo-bu", 1600, **network),
            paper.seconds(b, 250, **network),
        )


def times_table(paper, methods):
    """What the paper's figure of cumulative times shows, as far as it was run."""
    network, branin = {"function": "mlp_weights"}, {"function": "branin", "d": 1000}
    names = dict.fromkeys(r["method"] for r in (*methods.all, *paper.all))
    rows = []
    for name in names:
        cells = [
            methods.seconds(name, 250, **branin),
            *(paper.seconds(name, at, **network) for at in (250, 1600)),
        ]
        if any(cells):
            rows.append((name, *map(told_mean, cells)))
    header = ("method", "Branin (r = 2), d = 1000: 250", "network, d = 500: 250", "1600")
    note = (
        "Processor seconds of the method itself, without the objective, after so many "
        "evaluations, mean ± one standard error, runs in brackets; an empty cell was not run. "
        "Bottom-up's 250 iterations are 1600 evaluations. Cells ran beside other work on two "
        f"cores. With fewer than {FEWEST} runs nothing is claimed."
    )
    return Table("Cumulative time", header, rows, note)


def spread_by(embedding, method, function):
    """Return {seed: share of the first coordinate's variance that lies within slices}, rounded."""
    own = embedding.of(method, function=function)
    return {r["repeat"]: round(within_slices(r), 4) for r in own}


def methods_table(methods, d, n=250):
    """All methods on the textbook's functions."""
    names = list(dict.fromkeys(r["method"] for r in methods.all))
    rows = []
    for name in names:
        cells = [methods.best(name, n, function=f, d=d) for f in TEXTBOOK]
        if any(cells):
            rows.append((name, *map(told_mean, cells)))
    note = (
        f"Means after {n} evaluations, maximised, ± one standard error, runs in brackets. "
        "The published curves are of other problems (their Colville; four coordinates on Branin), "
        "so they do not stand beside these but for Hartmann6: see the page itself."
    )
    note += f" From fewer than {FEWEST} runs nothing is claimed."
    return Table(f"All methods, d = {d}", ("method", *TEXTBOOK.values()), rows, note)


def stacking_table(embedding):
    """How the points lie along the first direction, by method."""
    names = list(dict.fromkeys(r["method"] for r in embedding.all))
    rows = []
    for name in names:
        cells = []
        for function in ("three_hump_camel", "branin"):
            own = embedding.of(name, function=function)
            told = [{r["repeat"]: r[key] for r in own} for key in ("stacked", "cosine")]
            cells += [told_mean(spread_by(embedding, name, function)), *map(told_mean, told)]
        rows.append((name, *cells))
    columns = ("within slices", "stacked", "cosine")
    header = ("method", *(f"{f}: {c}" for f in ("camel", "Branin") for c in columns))
    note = (
        "50 values in 1000 inputs. Within slices: share of the first coordinate's variance within "
        "slices of 5 values. Stacked: greatest share of the points in a twentieth of its range, "
        "which a few far points stretch where k is 3. Cosine: of the smallest angle to the active "
        "span. sir is whitened; paper-plain is Algorithm 2 without localisation and unlabelled "
        "points in T, paper-labelled with k = 7 in slices of 5 rows, paper with both; "
        "paper-k-3 has a k below the slice; exact-k-3 solves the paper's pencil itself."
    )
    return Table("Directions from 50 values", header, rows, note)


def rivals_table(default, at=100):
    """The default beside other libraries, lowest values."""
    order = [m for m in PEERS if any(r["method"] == m for r in default.all)]
    rows, first = [], 0
    for problem in problems_of(default):
        lowest = {
            m: {seed: -value for seed, value in default.best(m, at, **problem).items()}
            for m in order
        }
        means = {m: np.mean(list(v.values())) for m, v in lowest.items() if v}
        first += min(means, key=means.get) == "silbo"
        noise = ", noise" if "sd" in problem else ""
        name = f"{problem['kind']} {problem['function']}, d = {problem['d']}{noise}"
        rows.append((name, *map(told_mean, lowest.values())))
    note = (
        f"Lowest value after {at} evaluations, minimised, ± one standard error, runs in brackets. "
        f"The default has the best mean on {first} of {len(rows)} problems; on those without a "
        "Gaussian-process peer in their row that says only that it is ahead of the others there. "
        "Noisy Hartmann6 is the function of another row, with noise. With so few runs most leads "
        f"over the best peer are within chance; of fewer than {FEWEST} runs none is claimed."
    )
    return Table("Beside other libraries", ("problem, minimised", *order), rows, note)


def problems_of(results):
    """Return the problems of results, each once, whatever the budgets."""
    problems = [{k: v for k, v in r["problem"].items() if k != "n"} for r in results.all]
    return list({str(problem): problem for problem in problems}.values())


def ranks_table(default):
    """The ranks of the page `default`, which are of the problems that all methods share."""
    tables = [t for t in search_report(default.all) if isinstance(t, Table)]
    overall = [t for t in tables if t.title == "All problems"]
    return [Table("Ranks over the problems in common", t.header, t.rows, t.note) for t in overall]


def seconds_text(default):
    """Processor seconds of a proposal at d = 100."""
    means = {}
    for method in dict.fromkeys(r["method"] for r in default.all):
        own = [r for r in default.of(method, d=100) if "median_seconds" in r]
        problems = {str(r["problem"]) for r in own}
        each = [
            np.median([r["median_seconds"] for r in own if str(r["problem"]) == key])
            for key in problems
        ]
        if each:
            means[method] = float(np.mean(each))
    told_means = ", ".join(f"{m} {s:.2g}" for m, s in sorted(means.items(), key=lambda kv: kv[1]))
    return (
        "Processor seconds of a proposal at d = 100, the median over the second half of a run, "
        f"then the median over runs, then the mean over problems: {told_means}. Other work ran "
        "beside some; :doc:`overhead` has the default alone."
    )


def network_table(paper):
    """The task with 500 weights."""
    budgets, where = (100, 250, 1600), {"function": "mlp_weights"}
    names = dict.fromkeys(r["method"] for r in paper.all if fits(r["problem"], where))
    rows = []
    for name in names:
        cells = [paper.best(name, at, **where) for at in budgets]
        lowest = [{seed: -value for seed, value in cell.items()} for cell in cells]
        rows.append((name, *map(told_mean, lowest)))
    note = (
        "Validation cross-entropy in nats after so many evaluations, minimised, mean ± one "
        "standard error, runs in brackets; an empty cell, or a method that is not here, was not "
        "measured; the default is on the page default, at 100 evaluations."
    )
    header = ("method", *(f"{at} evaluations" for at in budgets))
    return Table("500 initial weights of a network", header, rows, note)


READ_DIFFERENCES = (
    "Difference of the means, maximised, ± its standard error, runs in brackets: one number where "
    "both sides start from the same points and are compared seed by seed, else those of each side. "
    "+ or -: 95 % confidence (Student's or Welch's t) leaves 0 out, for the claim or against it; "
    "=: it does not. One such comparison in twenty misleads. With fewer than "
    f"{FEWEST} runs on a side no claim is made. 550 evaluations of bottom-up are 100 of the "
    "paper's 250 iterations, 250 are fewer: all points are evaluated again when it learns."
)
EMPTY = "In an empty cell the paper claims nothing; 0 runs: not run on that problem."
OPENING = """\
Every number of a table here is computed from the results in this folder by ``python
doc/benchmarks/write_findings.py``, and a test fails when they differ; the paragraphs are written by
hand. See :doc:`paper`, :doc:`paper-embedding`, :doc:`methods` and :doc:`default`."""

LIMITS = """\
**What was cut.** The authors ran 100 seeds. Here every table says how many runs a mean carries,
and the next one those on the authors' three functions: two cores were shared with other
experiments. Where a verdict is "undecided" more seeds may decide. Where bottom-up was stopped at
550 evaluations, these are 100 of the paper's 250 iterations. The textbook functions have most
methods (further down, without EI). ``python -m skbo_silbo.benchmarks run paper --profile thirty
--out doc/benchmarks/paper.jsonl`` goes on to 30 seeds where these runs end, ``--profile full`` to
100, and this page follows with ``--write``. The cells of :doc:`paper` of revisions 9deb1ad and
c4be055, and those of :doc:`paper-embedding`, ran one after another in one process, the others each
in its own."""

READING = """\
"As run" and "as printed" differ in more than one thing at once: slices, neighbours, which labels
are learnt from, the box of candidates (the authors' lies round the centre, and Colville's optimum
too), the weight of the uncertainty, and top-down in where CMA-ES starts and stops. The published
Colville is theirs (``colville_as_run``), whose fourth term reads a fifth input: curves on the
textbook's function cannot be set beside it. On Branin their files of every method with an
embedding, top-down's too, name four coordinates, not two (``..._d4_D100_...`` in the folders of
results of the repository cjfcsjt/SILBO)."""

SPREADING = """\
The paper's figures 5 and 6 show that plain SIR stacks the points in a few places where SILBO
spreads them. Under plain SIR all rows of a slice have one coordinate. Algorithm 2 as printed, with
k = 7 in slices of 5 rows, spreads them a little, because it does not whiten: localisation with
such a k does nothing. T, where the unlabelled points are, cannot change the span that Algorithm 2
finds: with one direction (camel) it changes nothing, with two (Branin) it turns the coordinates,
and the first then spreads less. Pooled centring, which all of these have, does change the span, by
2 to 9 degrees. With k = 3, below the size of a slice, localisation spreads the points, several
times more. With 50 values in 1000 inputs none of them has found the active directions."""

RIVALS = """\
At d = 1000 and on the three real problems the peers measured are TPE, CMA-ES and random search
(and Sobol points) only. The rank table below is of the problems that all methods share, and
leaves out who has not run on them; its note says how many they are."""


def page():
    """Return the page as text."""
    paper, methods = Results("paper"), Results("methods")
    embedding, default = Results("paper-embedding"), Results("default")
    return render_rst(
        "What the search benchmarks say",
        [
            OPENING,
            authors_table(paper, methods),
            READING,
            LIMITS,
            runs_table(paper),
            *claims_tables(paper, methods),
            measured_claims(paper, methods, embedding),
            times_table(paper, methods),
            network_table(paper),
            stacking_table(embedding),
            SPREADING,
            methods_table(methods, 100),
            methods_table(methods, 1000),
            rivals_table(default),
            RIVALS,
            *ranks_table(default),
            seconds_text(default),
        ],
    )


def main(arguments=None):
    """Exit code: 0, or 1 when the page is not what the results say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args(arguments)
    made = page()
    if options.write:
        PAGE.write_text(made)
        return 0
    published = PAGE.read_text()
    lines = difflib.unified_diff(
        published.splitlines(), made.splitlines(), "findings.rst", "results", lineterm="", n=1
    )
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return int(made != published)


if __name__ == "__main__":
    sys.exit(main())
