"""What a search is, in plain JSON, so that one can be told from another in a later process."""

from inspect import signature
from numbers import Integral

import joblib
import numpy as np

from skbo_silbo.journal._describe import describe, describe_data
from skbo_silbo.model_selection._initial_results import read_initial_results
from skbo_silbo.optimizers._constraints import describe_constraints

# Parameters of a search that do not decide what its candidates are and what their scores mean.
MAY_CHANGE = (
    *("callback", "journal", "max_time", "n_iter", "n_jobs", "patience", "pre_dispatch", "timeout"),
    "verbose",
)
# Parameters that the fingerprint has in a form of its own.
DESCRIBED_SPECIALLY = (
    *("batch_size", "constraints", "cv", "estimator", "initial_results", "param_distributions"),
    "refit",
)


def search_fingerprint(search, space, state):
    """Return all that decides what the candidates of a search are and what their scores mean.

    That is every parameter of the search but those in `MAY_CHANGE`, the data, and what is routed
    to splitter, estimator and scorers.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
        Read from its `param_distributions`.
    state : SearchState
        The data and splits of the fit.

    Returns
    -------
    fingerprint : dict
        What JSON can hold.

    Raises
    ------
    ValueError
        If the splitter gives other splits when it splits again, or a part cannot be described.
    """
    metric = search.refit if isinstance(search.refit, str) else None
    by_order = isinstance(search.scoring, dict) and metric is None  # which is searched
    fingerprint = {
        "param_distributions": describe(space.summary()),
        "order of param_distributions": space.parameter_names,
        "estimator": describe(search.estimator),
        "X": describe_data(state.X),
        "y": describe_data(state.y),
        "fit parameters": _described_data(state.fit_params),
        "scorer parameters": _described_data(state.score_params),
        "order of scoring": [str(name) for name in search.scoring] if by_order else None,
        "cv": {"splitter": describe(state.splitter), "splits": _splits_digest(state)},
        "refit": list(search._goals) if search._goals else metric,
        **{name: describe(getattr(search, name)) for name in described_parameters(type(search))},
    }
    # Only a number can be compared with that of an earlier run; otherwise the journal's counts.
    if not isinstance(search.random_state, Integral):
        fingerprint["random_state"] = None
    fingerprint["batch_size"] = 1 if search.batch_size == "auto" else describe(search.batch_size)
    fingerprint["constraints"] = describe_constraints(search.constraints, space)
    if search.initial_results is not None:
        told_before = read_initial_results(search.initial_results, search.refit, space)
        fingerprint["initial_results"] = describe(told_before)
    return fingerprint


def _described_data(parameters):
    return {name: describe_data(data) for name, data in sorted(parameters.items())}


def described_parameters(cls):
    """Return the names of a search's parameters that the fingerprint has as they are."""
    left_out = {*MAY_CHANGE, *DESCRIBED_SPECIALLY}
    return [name for name in signature(cls).parameters if name not in left_out]


def _splits_digest(state):
    first, second = (
        joblib.hash([list(map(np.ascontiguousarray, pair)) for pair in state.split()])
        for _ in range(2)
    )
    if first != second:
        raise ValueError(
            "cv must give the same splits every time when there is a journal, for candidates of "
            f"different runs to be comparable: got {state.splitter!r}. Give it an int as "
            "random_state."
        )
    return first
