"""Write the tables of findings.rst and reproduction.rst from the results, or check them.

Run it at the top of the project, where the package is installed::

    python doc/benchmarks/scripts/write_findings.py           # fails when tables and data differ
    python doc/benchmarks/scripts/write_findings.py --write

Every number of a table is computed here: from the JSON lines of this folder, and from
published.csv, points of the curves of the paper's authors. Values are maximised, as published.
"""

import argparse
import difflib
import sys

import numpy as np
from checkout import RESULTS, TABLES
from paper_claims import (
    AT_ITERATIONS,
    AUTHORS,
    AUTHORS_MORE,
    CLAIMS,
    DECIDES,
    DEFAULT,
    FIGURES,
    FUNCTIONS,
    ON_TEXTBOOK,
    PRINTED,
    RAN,
    TEXTBOOK,
)
from scipy.stats import norm

from benchmarks.engine import Store, Table, csv_lines, curve, shape
from benchmarks.experiments._comparisons import (
    LEVEL,
    compare,
    format_mean,
    holm,
    signs_of,
    verdict_of,
)
from benchmarks.experiments._paper_figures import PAPER, within_slices
from benchmarks.experiments._published import published_curves, value_at
from benchmarks.experiments._unlabelled_as_run import unlabelled_as_run_report

DIMENSIONS = (100, 1000)
NETWORK = {"function": "mlp_weights"}


class Results:
    """The results of one experiment, the last one of every cell."""

    def __init__(self, name):
        finished = [r for r in Store(RESULTS / f"{name}.jsonl").read() if r["status"] == "ok"]
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
    fixed = wanted.items() - {("n", wanted.get("n"))}
    return fixed <= problem.items() and ("sd" in problem) == ("sd" in wanted)


def z_of(curves, claim, problem, d):
    """Return by how many standard errors the first published mean is above the second.

    Where a curve ends before, both are read at its last point.
    """
    sides = [curves[problem, d, key] for key in (claim.first, claim.second)]
    ends = [max(float(row["true_evaluations"]) for row in rows) for rows in sides]
    at = [min(n, end) for n, end in zip(claim.evaluations, ends, strict=True)]
    if not isinstance(claim.at, tuple):
        at = [min(at)] * 2
    (a, sd_a, n_a), (b, sd_b, n_b) = (
        value_at(rows, "true_evaluations", n) for rows, n in zip(sides, at, strict=True)
    )
    return (a - b) / np.hypot(sd_a / np.sqrt(n_a), sd_b / np.sqrt(n_b))


def authors_claims(curves, claims):
    """Return z and sign, after Holm over all, of each claim: {claim: [(z, sign), ...]}."""
    places = [(problem, d) for _, problem, _ in FUNCTIONS for d in DIMENSIONS]
    z = np.array([[z_of(curves, claim, *place) for place in places] for claim in claims])
    p = holm(list(2.0 * norm.sf(np.abs(z.ravel()))))
    signs = np.reshape(signs_of(z.ravel(), p), z.shape)
    return {
        claim: list(zip(*rows, strict=True)) for claim, *rows in zip(claims, z, signs, strict=True)
    }


def authors_table(found):
    """The authors' data: z of every claim and problem, and how many differ at 5 % each."""
    problems = [f"{name} {d}" for _, _, name in FUNCTIONS for d in DIMENSIONS]
    rows = [
        (
            claim.words,
            format_curve(claim),
            *(f"{z:+.1f}{'*' if sign else ''}" for z, sign in cells),
            str(sum(abs(z) > norm.isf(LEVEL / 2) for z, _ in cells)),
            verdict_of([sign for _, sign in cells], claim.level),
        )
        for claim, cells in found.items()
    ]
    return Table("Authors", ("claim", "curves", *problems, "5 % each", "verdict"), rows)


def format_curve(claim):
    """Return what a claim about published curves compares, and after how many evaluations."""
    acquisitions = [key[1] or "EI" for key in (claim.first, claim.second)]
    words = "/".join(acquisitions) if claim.second[0].startswith("SILBO") else acquisitions[0]
    return f"{words}, {format_count(claim)}"


def format_count(claim):
    """Return the evaluations of both sides as words."""
    return str(claim.at) if not isinstance(claim.at, tuple) else "/".join(map(str, claim.at))


def compared(results, claim, function, d):
    """Return the `Comparison` of a claim on a function, or None, and how many runs there are."""
    pair = zip((claim.first, claim.second), claim.evaluations, strict=True)
    sides = [results.best(method, at, function=function, d=d) for method, at in pair]
    paired = claim.first.startswith("silbo-bu") and claim.second.startswith("silbo-bu")
    return compare(*sides, paired), " and ".join(str(len(side)) for side in sides)


def our_claims(results, claims, functions, d):
    """Return comparisons, runs, p after Holm over all of them, and signs, a row each."""
    keys = [
        (claim, *names)
        for claim in claims
        for names in functions
        if not claim.only or names[0] in claim.only
    ]
    found = [compared(results, claim, function, d) for claim, function, *_ in keys]
    p = holm([one and one.p for one, _ in found])
    signs = signs_of([one.gap if one else 0.0 for one, _ in found], p)
    return [(*row, *more) for row, *more in zip(keys, found, p, signs, strict=True)]


def default_table(rows):
    """The default beside the paper's method: difference of means, and verdict, by function."""
    cells = {
        (claim.words, name): f"{one.gap:+.3g} ± {one.error:.2g} ({one.runs}){'*' if sign else ''}"
        for claim, _, _, name, (one, _), _, sign in rows
    }
    names = [name for *_, name in FUNCTIONS]
    table = [(c.words, *(cells[c.words, name] for name in names)) for c in DEFAULT]
    return Table("The default of this library", ("claim", *names), table)


def claims_table(rows, title):
    """Every comparison of one family."""
    found = [
        (
            claim.words,
            f"{claim.first} - {claim.second}",
            format_count(claim),
            name,
            *format_comparison(one, runs, p, sign, claim.level),
        )
        for claim, _, _, name, (one, runs), p, sign in rows
    ]
    header = ("claim", "methods", "evaluations", "function", "runs", "means", "medians")
    return Table(title, (*header, "p (t)", "p (ranks)", "p (t), Holm", "verdict"), found)


def format_comparison(one, runs, p, sign, level):
    """Return the cells of a comparison."""
    if one is None:
        return (runs, "", "", "", "", "", "too few runs")
    p_values = (f"{value:.2g}" for value in (one.p, one.p_ranks, p))
    means = f"{one.gap:+.3g} ± {one.error:.2g}"
    words = ("not refuted", "falls", "falls") if level else ("undecided", "for", "against")
    return (one.runs, means, f"{one.middle:+.3g}", *p_values, words[sign])


def summary_table(authors, ours):
    """A row a claim: what each source says of it."""
    rows = []
    for words, decides in DECIDES.items():
        sources = [
            [
                (c.level, sign)
                for c, cells in authors.items()
                if c.words == words
                for _, sign in cells
            ],
            *(
                [(c.level, sign) for c, *_, sign in ours if (c.words, c.way) == (words, way)]
                for way in (PRINTED, RAN)
            ),
        ]
        everything = [pair for source in sources for pair in source]
        level = everything[0][0]
        verdict = verdict_of([sign for _, sign in everything if sign is not None], level)
        rows.append((words, *map(format_signs, sources), verdict, decides))
    header = ("claim", "authors' data", "ours as printed", "ours as run", "verdict")
    return Table("The claims", (*header, "what decides it"), rows)


def format_signs(source):
    """Return how many comparisons are for, against and undecided."""
    signs = [sign for _, sign in source if sign is not None]
    if not signs:
        return "too few runs" if source else "none"
    if source[0][0]:
        return f"{signs.count(0)} level, {len(signs) - signs.count(0)} not"
    return f"{signs.count(1)} for, {signs.count(-1)} against, {signs.count(0)} open"


MEANS = (  # name, published curve, ours as printed, ours as run, evaluations
    ("bottom-up", ("SILBO-BU", "UCB"), "silbo-bu", "silbo-bu-as-run", 1600),
    ("bottom-up", ("SILBO-BU", "UCB"), "silbo-bu", "silbo-bu-as-run", 250),
    ("top-down", ("SILBO-TD", "UCB"), "silbo-td", "silbo-td-as-run", 250),
    ("REMBO", ("REMBO", ""), "rembo", "rembo-as-run", 250),
    ("REMBO, K_X", ("REMBO-KX", ""), "rembo-kx", "", 250),
    ("REMBO, K_psi", ("REMBO-Kpsi", ""), "rembo-kpsi", "", 250),
    ("HeSBO", ("HeSBO", ""), "hesbo", "hesbo-as-run", 250),
    ("SIR-BO", ("SIR-BO", ""), "sir-bo", "sir-bo-as-run", 250),
    ("ADD-BO", ("ADD-BO", ""), "add-bo", "", 250),
    ("random", (), "random", "", 250),
)


def means_table(paper, curves, d):
    """Published means beside ours, as printed and as run."""
    rows = []
    for name, key, *methods, at in MEANS:
        for function, problem, words in FUNCTIONS:
            ours = [paper.best(m, at, function=function, d=d) for m in methods]
            theirs = format_published(curves.get((problem, d, key)), at)
            rows.append((name, words, str(at), theirs, *map(mean_and_median, ours)))
    header = ("method", "function", "evaluations", "published", "ours", "ours as run")
    return Table(f"Means and medians, {d} inputs", header, rows)


def format_published(rows, at):
    """Return mean and standard error of a published curve, at its end if that is before."""
    if not rows:
        return ""
    end = max(float(row["true_evaluations"]) for row in rows)
    mean, sd, n = value_at(rows, "true_evaluations", min(at, end))
    return f"{mean:.4g} ± {sd / np.sqrt(n):.2g}" + (f" (at {end:.0f})" if end < at else "")


def mean_and_median(values):
    """Return mean, error, runs and median as words."""
    return f"{format_mean(values)}; {np.median(list(values.values())):.4g}" if values else ""


def other_claims(paper, methods, embedding, solvers):
    """Claims about one problem, or about another quantity than the best value."""
    rows = [
        *(
            (
                f"bottom-up beats {b} on the network's weights, {at} evaluations (nats)",
                paper.best("silbo-bu", at, **NETWORK),
                paper.best(b, at, **NETWORK),
                False,
            )
            for b, at in (("rembo", 250), ("hesbo", 250), ("random", 1600))
        ),
        *((*row, False) for row in time_claims(paper, methods)),
        *((*row, True) for row in spreading_claims(embedding)),
        (*solver_claim(solvers), True),
    ]
    found = [compare(a, b, paired) for _, a, b, paired in rows]
    p = holm([one and one.p for one in found])
    signs = signs_of([one.gap if one else 0.0 for one in found], p)
    body = [
        (words, *format_other(one, value), verdict_of([sign]))
        for (words, *_), one, value, sign in zip(rows, found, p, signs, strict=True)
        if one
    ]
    return Table("Other measures", ("claim", "difference", "p, Holm", "verdict"), body)


def format_other(one, p):
    """Return difference and p as words."""
    return f"{one.gap:+.3g} ± {one.error:.2g} ({one.runs})", f"{p:.2g}"


def spread_by(embedding, method, function):
    """Return {seed: share of the first coordinate's variance that lies within slices}, rounded."""
    own = embedding.of(method, function=function)
    return {r["repeat"]: round(within_slices(r), 4) for r in own}


def spreading_claims(embedding):
    """Claims of the paper's figures 5 and 6, and what else might spread the points."""
    about = (
        ("Algorithm 2 spreads the rows of a slice more than plain SIR", "paper", "sir"),
        ("its localisation does so (k = 7)", "paper-labelled", "paper-plain"),
        ("its T, of unlabelled points, does so", "paper", "paper-labelled"),
        ("localisation with k = 3, below the slice, does so", "paper-k-3", "paper"),
    )
    for words, *pair in about:
        for function, name in (("three_hump_camel", "camel"), ("branin", "Branin")):
            yield f"{words}: {name} 1000", *(spread_by(embedding, m, function) for m in pair)


def solver_claim(solvers):
    """Section 4.3: how much faster R-SVD is than the exact solver, by shape of localised slices."""
    sides = {"randomized": {}, "exact": {}}
    for r in solvers.all:
        if "local" in r["problem"]:
            times = sides["randomized" if r["method"] == "randomized" else "exact"]
            times.setdefault(shape(r["problem"]), []).append(np.median(r["seconds"]))
    fast, exact = ({k: np.median(v) for k, v in own.items()} for own in sides.values())
    ratios = [exact[key] / fast[key] for key in fast.keys() & exact.keys()]
    words = (
        f"R-SVD is {np.exp(np.mean(np.log(ratios))):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) "
        "times as fast as the exact solver: logarithm of the ratio, by shape"
    )
    return words, *({k: np.log(v) for k, v in own.items()} for own in (exact, fast))


def time_claims(paper, methods):
    """Claims of the paper's figure of cumulative times, and the same at d = 100."""
    slower = [("silbo-td", b) for b in ("rembo", "sir-bo", "add-bo")] + [("rembo", "silbo-bu")]
    for d, of_bottom_up in ((100, 250), (1000, 1600)):
        for a, b in slower:
            counts = (250, of_bottom_up if b == "silbo-bu" else 250)
            sides = (
                methods.seconds(m, n, function="branin", d=d)
                for m, n in zip((a, b), counts, strict=True)
            )
            number = "/".join(map(str, dict.fromkeys(counts)))
            yield f"{a} takes more time than {b}: Branin {d}, {number} evaluations (s)", *sides
    for b in ("rembo", "hesbo"):
        yield (
            f"silbo-bu, 1600 evaluations, takes more time than {b}, 250: the network (s)",
            paper.seconds("silbo-bu", 1600, **NETWORK),
            paper.seconds(b, 250, **NETWORK),
        )


def runs_table(paper):
    """How many runs of every method there are on the authors' problems."""
    rows = [(m, *(format_runs(paper, m, d) for d in DIMENSIONS)) for m in PAPER.methods]
    rows = [row for row in rows if any(row[1:])]
    return Table("Runs of the authors' problems", ("method", "100 inputs", "1000 inputs"), rows)


def format_runs(paper, method, d):
    """Return how many runs a method has, by budget."""
    lengths = {
        function: [r["problem"]["n"] for r in paper.of(method, function=function, d=d)]
        for function, *_ in FUNCTIONS
    }
    budgets = sorted({n for own in lengths.values() for n in own})
    return "; ".join(f"{n}: {min(own.count(n) for own in lengths.values())}" for n in budgets)


def figures_table(results):
    """Return the runs for each figure of the paper, at its budget and at smaller ones."""
    rows = []
    for figure, title, n_published, source, methods, problems in FIGURES:
        cells = {"full": [], "smaller": [], "none": []}
        for name, (method, budget) in methods.items():
            lengths = [
                [r["problem"]["n"] for r in results[source].of(method, **problem)]
                for problem in problems
            ]
            most = min(max(own, default=0) for own in lengths)
            runs = min(sum(n >= most for n in own) for own in lengths) if most else 0
            kind = "full" if most >= budget else "smaller" if runs else "none"
            words = {"full": f"{name} {runs}", "smaller": f"{name} {runs} ({most})", "none": name}
            cells[kind].append(words[kind])
        rows.append((figure, title, str(n_published), *("; ".join(c) for c in cells.values())))
    header = ("figure", "shows", "runs in the paper", "runs at its budget", "at a smaller", "none")
    return Table("Figures of the paper", header, rows)


def made():
    """Return the tables of the page: file name to text."""
    names = "paper", "methods", "paper-embedding", "solvers"
    paper, methods, embedding, solvers = map(Results, names)
    curves = published_curves()
    first, more = authors_claims(curves, AUTHORS), authors_claims(curves, AUTHORS_MORE)
    families = {f"{d} inputs": our_claims(paper, CLAIMS[d], FUNCTIONS, d) for d in DIMENSIONS}
    families["textbook functions"] = our_claims(methods, ON_TEXTBOOK, TEXTBOOK, 100)
    iterations = our_claims(paper, AT_ITERATIONS, FUNCTIONS, 100)
    ours = [row for rows in families.values() for row in rows]
    tables = {
        "authors": authors_table(first),
        "authors-more": authors_table(more),
        "claims": summary_table(first | more, ours),
        "default": default_table(our_claims(paper, DEFAULT, FUNCTIONS, 100)),
        "other-measures": other_claims(paper, methods, embedding, solvers),
        "runs": runs_table(paper),
        **{f"means-{d}-inputs": means_table(paper, curves, d) for d in DIMENSIONS},
    }
    for words, rows in (*families.items(), ("iterations of the paper", iterations)):
        tables[words.replace(" ", "-")] = claims_table(rows, f"Every comparison, {words}")
    sources = dict(zip(names, (paper, methods, embedding, solvers), strict=True))
    return {
        **{f"findings-{name}.csv": csv_lines(table) for name, table in tables.items()},
        "reproduction.csv": csv_lines(figures_table(sources)),
        "reproduction-unlabelled.csv": csv_lines(
            unlabelled_as_run_report(Results("unlabelled_as_run").all)[0]
        ),
    }


def main(arguments=None):
    """Exit code: 0, or 1 when a file is not what the results say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the tables")
    options = parser.parse_args(arguments)
    differ = False
    for name, text in made().items():
        path = TABLES / name
        if options.write:
            path.write_text(text)
            continue
        published = path.read_text() if path.exists() else ""
        differ |= text != published
        lines = difflib.unified_diff(
            published.splitlines(), text.splitlines(), name, "results", lineterm="", n=1
        )
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
