"""What a search is, in plain JSON, so that one can be told from another in a later process."""

from inspect import signature

import numpy as np

from skbo_silbo.journal import describe, describe_data, digest
from skbo_silbo.model_selection._initial_results import read_initial_results

# Parameters of a search that do not decide what its candidates are and what their scores mean.
MAY_CHANGE = (
    *("callback", "journal", "max_time", "n_iter", "n_jobs", "patience", "pre_dispatch", "timeout"),
    "verbose",
)
# Parameters that the fingerprint has in a form of its own.
IN_OTHER_WORDS = (
    *("batch_size", "cv", "estimator", "initial_results", "param_distributions", "refit"),
)


def search_fingerprint(search, space, state, version):
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
    version : int
        Of the journal that it is for.

    Returns
    -------
    fingerprint : dict
        What JSON can hold.

    Raises
    ------
    ValueError
        If the splitter gives other splits when it splits again, or a part cannot be described.
    """

    def told(value):
        return describe(value, version)

    def held(data):
        return describe_data(data, version)

    fingerprint = {
        "param_distributions": told(space.summary()),
        "order of param_distributions": space.parameter_names,
        "estimator": told(search.estimator),
        "X": held(state.X),
        "y": held(state.y),
        "fit parameters": {k: held(v) for k, v in sorted(state.fit_params.items())},
        "cv": {"splitter": told(state.splitter), "splits": _splits_digest(state)},
        "refit": search.refit if isinstance(search.refit, str) else None,  # the metric searched
        **{name: told(getattr(search, name)) for name in described_parameters(type(search))},
    }
    fingerprint["batch_size"] = 1 if search.batch_size == "auto" else told(search.batch_size)
    if search.initial_results is not None:
        told_before = read_initial_results(search.initial_results, search.refit, space)
        fingerprint["initial_results"] = told(told_before)
    if version > 1:
        fingerprint["scorer parameters"] = {
            k: held(v) for k, v in sorted(state.score_params.items())
        }
        fingerprint["order of scoring"] = _order(search)
    return fingerprint


def described_parameters(cls):
    """Return the names of a search's parameters that the fingerprint has as they are."""
    left_out = {*MAY_CHANGE, *IN_OTHER_WORDS}
    return [name for name in signature(cls).parameters if name not in left_out]


def _order(search):
    """Return the order of the metrics where it decides which is searched."""
    by_order = isinstance(search.scoring, dict) and not isinstance(search.refit, str)
    return [str(name) for name in search.scoring] if by_order else None


def without_new_defaults(fingerprint, old, cls, version):
    """Leave out parameters that an older journal does not know, where they are at their default."""
    defaults = {name: p.default for name, p in signature(cls).parameters.items()}
    new = [name for name in described_parameters(cls) if name not in old]
    idle = {name for name in new if fingerprint[name] == describe(defaults[name], version)}
    return {name: value for name, value in fingerprint.items() if name not in idle}


def _splits_digest(state):
    first, second = (digest(*_split_bytes(state.split())) for _ in range(2))
    if first != second:
        raise ValueError(
            "cv must give the same splits every time when there is a journal, for candidates of "
            f"different runs to be comparable: got {state.splitter!r}. Give it an int as "
            "random_state."
        )
    return first


def _split_bytes(splits):
    for part in (indices for pair in splits for indices in pair):
        yield b"|"
        yield np.ascontiguousarray(part, dtype=np.int64).data.cast("B") if len(part) else b""
