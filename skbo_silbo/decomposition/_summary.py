"""Text summary of a fitted transformer, laid out like that of R's ``dr``."""

import textwrap

import numpy as np

from skbo_silbo.decomposition.rows._columns import mean_and_spread, subtract_group_means

TESTS = {
    "dimension_tests_": "Large-sample marginal dimension tests",
    "permutation_tests_": "Permutation tests",
    "bootstrap_tests_": "Wild bootstrap tests",
}
COLUMNS = {
    "statistic": "Stat",
    "df": "df",
    "p_value_normal": "p.value",
    "p_value": "p.value",
    "n_permutations": "draws",
}
P_VALUE_KINDS = {"df": "(Nor)", "p_value_normal": "(Nor)", "p_value": "(Gen)"}
NO_STANDARD_ERRORS = (
    "None: they require SIR of linearly independent columns without ridge, penalty, localisation,\n"
    "reweighting and relative weights. Use skbo_silbo.inspection.bootstrap_directions instead."
)


class Summary(str):
    """String that is displayed as a table in the interpreter."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def format_summary(estimator, rows=None, errors=None):
    """Format the text summary of a fitted transformer.

    Parameters
    ----------
    estimator : SupervisedProjection
    rows : LabelledData, default=None
        Training samples. If passed, the summary also contains their number and R^2(OLS|dr).
    errors : ndarray of shape (r, d), default=None
        Standard error of each entry of `components_`. None means that they are not available.
    """
    parts = [_heading(estimator, rows)]
    if "slice_sizes_" in vars(estimator):
        parts.append("Slice sizes:\n" + " ".join(f"{size:g}" for size in estimator.slice_sizes_))
    parts += _directions(estimator, errors)
    if why := vars(estimator).get("_why_dropped"):
        parts.append(f"Directions dropped:\n{textwrap.fill(why, 96)}")
    if rows is not None:
        parts += _standardised_loadings(estimator, rows)
        parts += _unidentified_features(estimator, rows.X_labeled)
    if rows is not None and errors is None:
        parts.append(f"Standard errors:\n{NO_STANDARD_ERRORS}")
    parts.append(_eigenvalues(estimator, rows))
    made = [name for name in TESTS if name in vars(estimator)]
    parts += [f"{TESTS[name]}:\n{_table_of_tests(vars(estimator)[name])}" for name in made]
    if not made:
        parts.append("Tests:\nNone: use n_components='auto', if the method has tests.")
    return Summary("\n\n".join(parts))


def _heading(estimator, rows):
    text = f"Method:\n{type(estimator).__name__}"
    if "n_slices_" in vars(estimator):
        text += f" with {estimator.n_slices_} slices"
    if rows is None:
        return f"{text}."
    return f"{text}, n = {rows.n_rows:g}{'' if rows.weights is None else ', using weights'}."


def _directions(estimator, errors):
    if "components_" not in vars(estimator):
        return
    B = estimator.components_
    length, used = np.linalg.norm(B, axis=1, keepdims=True), B.any(axis=0)
    names = _feature_names(estimator)
    note = "" if used.all() else f"\n({used.sum()} of {used.size} features; the others are 0)"
    note += "" if estimator.n_components_ else "\n(none found: the first is shown)"
    yield f"Estimated basis vectors:{note}\n{_table_of_features(names, B / length, used)}"
    if errors is not None:
        yield f"Standard errors:\n{_table_of_features(names, errors / length, used)}"


def _standardised_loadings(estimator, rows):
    """Format the directions as loadings of standardised features."""
    if "components_" in vars(estimator):
        B = estimator.components_ * mean_and_spread(rows.X_labeled, rows.weights)[1]
        B = B / np.linalg.norm(B, axis=1, keepdims=True)
        table = _table_of_features(_feature_names(estimator), B, B.any(axis=0))
        yield f"Loadings per standard deviation:\n{table}"


def _feature_names(estimator):
    default = [f"x{j}" for j in range(estimator.n_features_in_)]
    return list(vars(estimator).get("feature_names_in_", default))


def _unidentified_features(estimator, X):
    """Describe the features that are constant or identical to others.

    The individual coefficients of such features are not identified.
    """
    names, sets = _feature_names(estimator), {}
    for name, column in zip(names, X.T, strict=True):
        sets.setdefault("constant" if np.ptp(column) == 0 else column.tobytes(), []).append(name)
    if constant := sets.pop("constant", None):
        yield f"Constant features:\n{', '.join(constant)}"
    if equal := [" = ".join(group) for group in sets.values() if len(group) > 1]:
        yield f"Duplicated features:\n{', '.join(equal)}"


def _table_of_features(names, B, used):
    rows = [[names[j], *(f"{v:.5g}" for v in B[:, j])] for j in np.flatnonzero(used)]
    return text_table(rows, _heads(len(B)))


def _heads(r):
    return [f"Dir{j + 1}" for j in range(r)]


def _eigenvalues(estimator, rows):
    r = max(estimator.n_components_, 1)
    lines = [["Eigenvalues", *(f"{v:.6g}" for v in estimator.eigenvalues_[:r])]]
    if "components_" in vars(estimator) and rows is not None and rows.y.dtype.kind in "fiu":
        names = [""] if rows.y.ndim == 1 else [f" for y{j}" for j in range(rows.y.shape[1])]
        shares = _linear_shares(estimator.components_, rows)
        lines += [
            [f"R^2(OLS{name}|dr)", *(f"{v:.6g}" for v in share)]
            for name, share in zip(names, shares, strict=True)
        ]
    return text_table(lines, _heads(r))


def _linear_shares(components, rows):
    """Return how much of each least-squares fit the first 1, 2, ... scores explain."""
    root = np.ones(len(rows.y)) if rows.weights is None else np.sqrt(rows.weights)
    A = root[:, None] * (rows.X_labeled - rows.labelled_mean())
    t = rows.y.reshape(len(A), -1)
    t = t if rows.groups is None else subtract_group_means(t, rows.groups)
    t = root[:, None] * (t - np.average(t, axis=0, weights=rows.weights))
    fitted = A @ np.linalg.lstsq(A, t, rcond=None)[0]
    Q = np.linalg.qr(A @ components.T)[0]
    return (np.cumsum((Q.T @ fitted) ** 2, axis=0) / np.sum(fitted**2, axis=0)).T


def _table_of_tests(tests):
    kinds = P_VALUE_KINDS if "p_value_normal" in tests else {}
    shown = {n: title + kinds.get(n, "") for n, title in COLUMNS.items() if n in tests}
    rows = [
        [f"{k}D vs >= {k + 1}D", *(f"{tests[name][i]:.6g}" for name in shown)]
        for i, k in enumerate(tests["n_components"])
    ]
    return text_table(rows, list(shown.values()))


def text_table(rows, heads):
    """Format rows as a text table with the given column headings."""
    cells = [["", *heads], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        " ".join(cell.rjust(w) if j else cell.ljust(w) for j, (cell, w) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in cells)
    )
    return "\n".join(line.rstrip() for line in lines)
