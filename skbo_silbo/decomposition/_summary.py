"""What a fit has found, in the order in which R's ``dr`` prints it."""

import numpy as np

TESTS = {
    "dimension_tests_": "Large-sample marginal dimension tests",
    "permutation_tests_": "Permutation tests",
    "bootstrap_tests_": "Wild bootstrap tests",
    "rotation_tests_": "Rotation tests",
}
COLUMNS = {
    "statistic": "Stat",
    "df": "df",
    "p_value": "p.value",
    "p_value_normal": "p.value(normal)",
}


class Summary(str):
    """Text that shows as it prints."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def summary_of(estimator, n_rows=None, shares=None):
    """Text of a fitted transformer; `shares` are R^2(OLS|dr) of the first 1, 2, ... directions."""
    parts = [_heading(estimator, n_rows), _slice_sizes(estimator), _directions(estimator, shares)]
    for name, title in TESTS.items():
        if name in vars(estimator):
            parts.append(f"{title}:\n{_table_of_tests(vars(estimator)[name])}")
    return Summary("\n\n".join(part for part in parts if part))


def _heading(estimator, n_rows):
    text = f"Method:\n{type(estimator).__name__}"
    if "n_slices_" in vars(estimator):
        text += f" with {estimator.n_slices_} slices"
    return text + (f", n = {n_rows:g}." if n_rows else ".")


def _slice_sizes(estimator):
    sizes = vars(estimator).get("slice_sizes_")
    return None if sizes is None else "Slice sizes:\n" + " ".join(f"{size:g}" for size in sizes)


def _directions(estimator, shares):
    B, r = estimator.components_, len(estimator.components_)
    B = B / np.linalg.norm(B, axis=1, keepdims=True)
    d = B.shape[1]
    names = [str(name) for name in getattr(estimator, "feature_names_in_", range(d))]
    names = names if "feature_names_in_" in vars(estimator) else [f"x{name}" for name in names]
    heads = [f"Dir{j + 1}" for j in range(r)]
    eigenvalues = [["Eigenvalues", *(f"{v:.6g}" for v in estimator.eigenvalues_[:r])]]
    if shares is not None:
        eigenvalues.append(["R^2(OLS|dr)", *(f"{v:.6g}" for v in shares)])
    basis = _table([[name, *(f"{v:.6f}" for v in B[:, j])] for j, name in enumerate(names)], heads)
    found = "" if estimator.n_components_ else "\n(none found: the first is shown)"
    return f"Estimated basis vectors:{found}\n{basis}\n\n{_table(eigenvalues, heads)}"


def _table_of_tests(tests):
    shown = {name: title for name, title in COLUMNS.items() if name in tests}
    rows = [
        [f"{k}D vs >= {k + 1}D", *(f"{tests[name][i]:.6g}" for name in shown)]
        for i, k in enumerate(tests["n_components"])
    ]
    return _table(rows, list(shown.values()))


def _table(rows, heads):
    """Text of rows, each with its name first, under the heads of the other columns."""
    cells = [["", *heads], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        " ".join(cell.rjust(w) if j else cell.ljust(w) for j, (cell, w) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in cells)
    )
    return "\n".join(line.rstrip() for line in lines)
