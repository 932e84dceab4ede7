"""What a fit has found, in the order in which R's ``dr`` prints it."""

import numpy as np

from .rows._columns import less_group_means

TESTS = {
    "dimension_tests_": "Large-sample marginal dimension tests",
    "permutation_tests_": "Permutation tests",
    "bootstrap_tests_": "Wild bootstrap tests",
}
COLUMNS = {"statistic": "Stat", "df": "df", "p_value_normal": "p.value", "p_value": "p.value"}
OF_BOTH = {"df": "(Nor)", "p_value_normal": "(Nor)", "p_value": "(Gen)"}
NO_ERRORS = (
    "None: they are known for SIR of independent columns, without ridge, penalty, neighbours,\n"
    "reweighting and relative weights; skbo_silbo.inspection.bootstrap_directions resamples."
)


class Summary(str):
    """Text that shows as it prints."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def summary_of(estimator, rows=None, errors=None):
    """Text of a fitted transformer.

    Parameters
    ----------
    estimator : SupervisedProjection
    rows : LabelledData, default=None
        Rows fitted, whose number and R^2(OLS|dr) are shown.
    errors : ndarray of shape (r, d), default=None
        Standard errors of `components_`.
    """
    parts = [_heading(estimator, rows)]
    if "slice_sizes_" in vars(estimator):
        parts.append("Slice sizes:\n" + " ".join(f"{size:g}" for size in estimator.slice_sizes_))
    parts += _directions(estimator, errors)
    if rows is not None and errors is None:
        parts.append(f"Standard errors:\n{NO_ERRORS}")
    parts.append(_eigenvalues(estimator, rows))
    made = [name for name in TESTS if name in vars(estimator)]
    parts += [f"{TESTS[name]}:\n{_table_of_tests(vars(estimator)[name])}" for name in made]
    if not made:
        parts.append("Tests:\nNone: n_components='auto' makes them, where the method has any.")
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
    names = list(vars(estimator).get("feature_names_in_", [f"x{j}" for j in range(B.shape[1])]))
    said = "" if used.all() else f"\n({used.sum()} of {used.size} features: the others have 0)"
    said += "" if estimator.n_components_ else "\n(none found: the first is shown)"
    yield f"Estimated basis vectors:{said}\n{_table_of_features(names, B / length, used)}"
    if errors is not None:
        yield f"Standard errors:\n{_table_of_features(names, errors / length, used)}"


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
    """Share (q, r) of every least-squares fit that is linear in the first 1, 2, ... scores."""
    root = np.ones(len(rows.y)) if rows.weights is None else np.sqrt(rows.weights)
    A = root[:, None] * (rows.X_labeled - rows.labelled_mean())
    t = rows.y.reshape(len(A), -1)
    t = t if rows.groups is None else less_group_means(t, rows.groups, rows.weights)
    t = root[:, None] * (t - np.average(t, axis=0, weights=rows.weights))
    fitted = A @ np.linalg.lstsq(A, t, rcond=None)[0]
    Q = np.linalg.qr(A @ components.T)[0]
    return (np.cumsum((Q.T @ fitted) ** 2, axis=0) / np.sum(fitted**2, axis=0)).T


def _table_of_tests(tests):
    kinds = OF_BOTH if "p_value_normal" in tests else {}
    shown = {n: title + kinds.get(n, "") for n, title in COLUMNS.items() if n in tests}
    rows = [
        [f"{k}D vs >= {k + 1}D", *(f"{tests[name][i]:.6g}" for name in shown)]
        for i, k in enumerate(tests["n_components"])
    ]
    return text_table(rows, list(shown.values()))


def text_table(rows, heads):
    """Text of rows, each with its name first, under the heads of the other columns."""
    cells = [["", *heads], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        " ".join(cell.rjust(w) if j else cell.ljust(w) for j, (cell, w) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in cells)
    )
    return "\n".join(line.rstrip() for line in lines)
