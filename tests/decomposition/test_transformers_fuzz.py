"""Transformers on any data: dtypes, ties, collinear and constant columns, scales, few labels.

What is fitted is finite; what cannot be is refused in words, never by an error from within.
"""

import warnings

import numpy as np
from fuzzing import in_parts, run_property
from hypothesis import given
from hypothesis import strategies as st

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SparseSlicedInverseRegression,
)

TRANSFORMERS = {
    "semi-sir": SemiSlicedInverseRegression(1, n_slices=4),
    "semi-sir auto": SemiSlicedInverseRegression(random_state=0),
    "local": SemiSlicedInverseRegression(2, n_slices=3, n_local_neighbors=3, alpha=0.5),
    "save": SlicedAverageVarianceEstimation(1, n_slices=3),
    "directional": DirectionalRegression("auto", n_slices=3),
    "hessian": PrincipalHessianDirections(1),
    "kernel": KernelSlicedInverseRegression(2, n_slices=4),
    "sparse": SparseSlicedInverseRegression(1, n_slices=3, penalty=0.1),
    "outer products": MAVE(1),
    "active": ActiveSubspace(1),
}
TAKE_UNLABELED = ("semi-sir", "semi-sir auto", "local", "active")
KINDS = ("linear", "square", "ties", "constant", "one other", "noise", "words")
# Least and largest power of ten of the columns; the squares of float32 end near 1e38.
EXPONENTS = {"float64": (-140, 140), "float32": (-15, 12), "int64": (1, 9), "bool": (0, 0)}


def response(kind, X, rng):
    n = len(X)
    return {
        "linear": X[:, 0] + 0.1 * rng.normal(size=n),
        "square": X[:, 0] ** 2,
        "ties": np.round(X[:, 0]),
        "constant": np.full(n, 3.0),
        "one other": (np.arange(n) == n // 2).astype(float),
        "noise": rng.standard_cauchy(n),
        "words": np.where(X[:, 0] > 0, "up", "down"),
    }[kind]


@st.composite
def data(draw):
    """Return X, y and how many of the labels are taken away."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 7))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X, draw(st.integers(0, 1)))  # ties
    if draw(st.booleans()):
        X = X[rng.integers(n, size=n)]  # equal rows
    y = response(draw(st.sampled_from(KINDS)), X, rng)
    columns = {"copy": X[:, 0].copy(), "sum": X.sum(axis=1), "constant": np.full(n, 2.0)}
    for j, kind in enumerate(draw(st.lists(st.sampled_from(sorted(columns)), max_size=d))):
        X[:, -1 - j] = columns[kind]
    dtype = draw(st.sampled_from(sorted(EXPONENTS)))
    if dtype == "bool":
        X = X > 0
    else:
        smallest, largest = EXPONENTS[dtype]
        shift = draw(st.sampled_from([0.0, 0.0, 1.0, 1e6]))
        X = (X + shift) * 10.0 ** draw(st.integers(smallest, largest))
    if y.dtype.kind == "f":
        y = y * 10.0 ** draw(st.sampled_from([0, 0, 0, -150, 150]))
    return X.astype(dtype), y, draw(st.integers(0, n - 1))


@in_parts
def test_fits_are_finite_or_raise(part):
    @given(name=st.sampled_from(sorted(TRANSFORMERS)), known=data())
    def check(name, known):
        X, y, n_missing = known
        transformer = TRANSFORMERS[name]
        if name in TAKE_UNLABELED and y.dtype.kind == "f":
            y[:n_missing] = np.nan
        Z = refused = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                Z = transformer.fit(X, y).transform(X)
            except ValueError as error:
                refused = error
        if refused is not None:
            assert not isinstance(refused, np.linalg.LinAlgError)
            assert " must " in str(refused) or "convert string to float" in str(refused), refused
            return
        assert np.isfinite(Z).all()
        assert Z.shape == (len(X), max(transformer.n_components_, 1))
        assert np.isfinite(transformer.eigenvalues_).all()

    run_property(check, part)
