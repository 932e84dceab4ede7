"""Tables and aims of experiment `sdr-defaults`."""

import numpy as np

from benchmarks.engine import Table, by_method

ALPHAS = (0.0, 0.1, 1.0, 10.0)
CHOOSERS = ("auto", "Ledoit-Wolf", "OAS", "5-fold CV", "leave-one-out", "none")
PEERS = ("PLS", "LassoCV", "PCA")


def _cells(results, kind):
    grouped = by_method(results)
    return [
        (dict(problem), methods["sir"][0])
        for problem, methods in grouped.items()
        if dict(problem)["kind"] == kind
    ]


def _place(problem):
    return f"{problem['data']}, {problem['n']} x {problem['d']}"


def _mean(values):
    return float(np.mean(values))


def ridge_summary(results):
    """Rows of mean scores: {cell: {name: score}}, with the oracles'."""
    rows = {}
    for problem, found in _cells(results, "ridge"):
        scores = {name: _mean(found[name]) for name in (*CHOOSERS, *PEERS) if name in found}
        fixed = np.array(found["fixed"])
        scores["best fixed"] = float(fixed.mean(axis=0).max())
        scores["best a seed"] = float(fixed.max(axis=1).mean())
        rows[_place(problem)] = scores
    return rows


def _scores_table(title, rows, names, note):
    """Scores by name, a row a cell, and their means last."""
    means = {n: _mean([s[n] for s in rows.values() if n in s]) for n in names}
    lines = [
        (place, *(f"{scores[n]:.3f}" if n in scores else "--" for n in names))
        for place, scores in [*rows.items(), ("mean", means)]
    ]
    return Table(title, ("cell", *names), lines, note)


def _ridge_table(rows):
    return _scores_table(
        "Ridge",
        rows,
        ("best a seed", "best fixed", *CHOOSERS, *PEERS),
        "Mean score on held-out rows over seeds. *Best*: best fixed ridge of a grid, chosen "
        "afterwards by these scores, for each seed or for all seeds. *LassoCV*: regressions only.",
    )


def luck_summary(results):
    """Rows of mean scores on half of the held-out rows, by what chose the ridge: {cell: {...}}."""
    rows = {}
    for problem, found in _cells(results, "luck"):
        scores = np.array(found["fixed"])  # (seeds, ridges, halves)
        best = scores.argmax(axis=1)
        own = np.take_along_axis(scores, best[:, None], axis=1)
        other = np.take_along_axis(scores, best[:, None, ::-1], axis=1)
        rows[_place(problem)] = {
            "best here": float(own.mean()),
            "best on the other half": float(other.mean()),
            "best fixed": float(scores.mean(axis=(0, 2)).max()),
            "auto": _mean(found["auto"]),
        }
    return rows


def _luck_table(rows):
    names = ("best here", "best on the other half", "best fixed", "auto")
    mean = {n: _mean([s[n] for s in rows.values()]) for n in names}
    luck = mean["best here"] - mean["best on the other half"]
    return _scores_table(
        "What of the best ridge of a seed is luck",
        rows,
        names,
        "Mean score on half of the held-out rows, over both halves and all seeds. *Best here*: "
        "ridge that is best for the seed on this half. *Best on the other half*: ridge that is "
        "best on the other half, so that its score has no luck. Of the difference of "
        f"{mean['best here'] - mean['auto']:.3f} between *best here* and *auto*, {luck:.3f} is "
        "luck.",
    )


def gains(found):
    """Mean over seeds of auto less alpha = 0, and its standard error."""
    difference = np.subtract(found["auto"], found["0"])
    return difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))


def _alpha_table(cells):
    header = ("cell", *(f"alpha {a:g}" for a in ALPHAS), "auto", "auto less 0 (se)", "chose 0")
    rows = []
    for problem, found in cells:
        gain, error = gains(found)
        scores = (f"{_mean(found[f'{alpha:g}']):.3f}" for alpha in ALPHAS)
        zero = f"{found['alpha'].count(0.0)} of {len(found['alpha'])}"
        words = (f"{_mean(found['auto']):.3f}", f"{gain:+.3f} ({error:.3f})", zero)
        rows.append((_place(problem), *scores, *words))
    return Table("Unlabelled rows", header, rows, "All fits use the ridge that *auto* chooses.")


def _dimension_table(cells):
    rows = []
    for problem, found in cells:
        words = ", ".join(f"{k}: {count}" for k, count in found["found"].items())
        rows.append((problem["learner"], _place(problem), str(problem["truth"]), words))
    return Table("Number of directions", ("learner", "cell", "truth", "found: times"), rows)


def _intervals_table(cells):
    rows = [
        (
            _place(problem),
            problem["X"],
            problem["noise"],
            str(problem["seeds"]),
            *(f"{_mean(found[method]):.3f}" for method in ("normal", "percentile")),
        )
        for problem, found in cells
    ]
    return Table(
        "Coverage at a nominal .95",
        ("cell", "X", "noise", "sets", "normal", "percentile"),
        rows,
        "Share of the true entries of active features that the intervals contain. Each seed is a "
        "data set, and there are 100 resamples. With fewer than three rows per feature, a warning "
        "says that the intervals are too narrow.",
    )


def report(results):
    """Tables of the five kinds that were measured."""
    tables = []
    if rows := ridge_summary(results):
        tables.append(_ridge_table(rows))
    if rows := luck_summary(results):
        tables.append(_luck_table(rows))
    makers = {"alpha": _alpha_table, "dimension": _dimension_table, "intervals": _intervals_table}
    for kind, make in makers.items():
        if cells := _cells(results, kind):
            tables.append(make(cells))
    return tables


def aims(results):
    """Aims of issue 13, points 1 to 4."""
    return [
        *_ridge_aims(results),
        *_luck_aims(results),
        *_alpha_aims(results),
        *_test_aims(results),
    ]


def _ridge_aims(results):
    rows = ridge_summary(results)
    if not rows:
        return []
    mean = {n: _mean([s[n] for s in rows.values()]) for n in ("auto", "best fixed", "best a seed")}
    short = {p: max(s[n] for n in CHOOSERS[1:]) - s["auto"] for p, s in rows.items()}
    worst = max(short, key=short.get)
    shares = {name: mean["auto"] / mean[name] for name in ("best fixed", "best a seed")}
    return [
        *(
            (f"ridge: at least .94 of the {name} ridge's mean", f"{share:.3f}", share >= 0.94)
            for name, share in shares.items()
        ),
        (
            "ridge: never .06 below the best of five choosers",
            f"{short[worst]:.3f} ({worst})",
            short[worst] < 0.06,
        ),
    ]


def _luck_aims(results):
    rows = luck_summary(results).values()
    if not rows:
        return []
    share = _mean([s["auto"] for s in rows]) / _mean([s["best on the other half"] for s in rows])
    words = "ridge: at least .94 of the mean of a seed's best ridge on other held-out rows"
    return [(words, f"{share:.3f}", share >= 0.94)]


def _alpha_aims(results):
    rows = []
    for problem, found in _cells(results, "alpha"):
        gain, error = gains(found)
        words = f"alpha: {_place(problem)} not two errors below alpha = 0"
        rows.append((words, f"{gain:+.3f} ({error:.3f})", bool(gain >= -2 * error)))
    return rows


def _test_aims(results):
    rows = []
    for problem, found in _cells(results, "dimension"):
        if problem["data"] == "weak":  # compares the power of two tests
            continue
        right = found["found"].get(str(problem["truth"]), 0) / problem["seeds"]
        error = np.sqrt(right * (1 - right) / problem["seeds"])
        place = f"{problem['learner']}, {_place(problem)}"
        null = problem["truth"] == 0
        share = 1 - right if null else right
        words = f"{'null size .03 to .07' if null else 'right in 90 %'}: {place}"
        holds = 0.03 <= share <= 0.07 if null else share >= 0.9
        rows.append((words, f"{share:.3f} ({error:.3f})", holds))
    for problem, found in _cells(results, "intervals"):
        if problem["X"] != "t3":
            share = _mean(found["normal"])
            words = f"coverage at least .93: {_place(problem)}, X {problem['X']}, noise"
            rows.append((f"{words} {problem['noise']}", f"{share:.3f}", share >= 0.93))
    return rows
