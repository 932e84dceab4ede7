"""Text summary of a fitted transformer, laid out like that of R's ``dr``."""

import numpy as np

TESTS = {
    "dimension_tests_": "Large-sample marginal dimension tests",
    "permutation_tests_": "Permutation tests",
    "bootstrap_tests_": "Wild bootstrap tests",
}
COLUMNS = {
    "statistic": "Stat",
    "df": "df",
    "p_value_normal": "p.value(Nor)",
    "p_value": "p.value",
    "n_permutations": "draws",
}


class Summary(str):
    """String that is displayed as a table in the interpreter."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def format_summary(estimator, errors=None):
    """Format the text summary of a fitted transformer.

    Parameters
    ----------
    estimator : SupervisedProjection
    errors : ndarray of shape (r, d), default=None
        Standard error of each entry of `components_`. None means that they are not available.
    """
    fitted, r = vars(estimator), max(estimator.n_components_, 1)
    directions, parts = [f"Dir{j + 1}" for j in range(r)], [f"Method:\n{type(estimator).__name__}"]
    if "n_slices_" in fitted:
        sizes = " ".join(f"{size:g}" for size in estimator.slice_sizes_)
        parts.append(f"Slice sizes:\n{sizes}")
    if "components_" in fitted:
        B, names = estimator.components_, range(estimator.n_features_in_)
        names = fitted.get("feature_names_in_", [f"x{j}" for j in names])
        unit, used = np.linalg.norm(B, axis=1, keepdims=True), np.flatnonzero(B.any(axis=0))
        note = "" if estimator.n_components_ else " (none found: the first is shown)"
        for title, values in ((f"Estimated basis vectors{note}", B), ("Standard errors", errors)):
            if values is not None:
                rows = [[names[j], *(f"{v:.5g}" for v in (values / unit)[:, j])] for j in used]
                parts.append(f"{title}:\n{text_table(rows, directions)}")
    if why := fitted.get("_why_dropped"):
        parts.append(f"Directions dropped:\n{why}")
    values = [f"{value:.6g}" for value in estimator.eigenvalues_[:r]]
    parts.append(text_table([["Eigenvalues", *values]], directions))
    for name in (name for name in TESTS if name in fitted):
        tests = fitted[name]
        shown = [column for column in COLUMNS if column in tests]
        rows = [
            [f"{k}D vs >= {k + 1}D", *(f"{tests[column][i]:.6g}" for column in shown)]
            for i, k in enumerate(tests["n_components"])
        ]
        parts.append(f"{TESTS[name]}:\n{text_table(rows, [COLUMNS[column] for column in shown])}")
    return Summary("\n\n".join(parts))


def text_table(rows, heads):
    """Format rows as a text table with the given column headings."""
    cells = [["", *heads], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        " ".join(cell.rjust(w) if j else cell.ljust(w) for j, (cell, w) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in cells)
    )
    return "\n".join(line.rstrip() for line in lines)
