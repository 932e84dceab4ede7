"""Describe a search, so that a journal is only resumed by the same search."""

from inspect import signature
from typing import Any

import joblib
import numpy as np

from skbo_silbo._descriptions import describe, describe_data
from skbo_silbo._sklearn import SearchState
from skbo_silbo.model_selection._settings import Settings
from skbo_silbo.space.descriptions import describe_space

# Parameters that affect neither the candidates nor their scores.
MAY_CHANGE = (
    *("callback", "journal", "max_time", "n_iter", "n_jobs", "n_retries", "patience"),
    *("pre_dispatch", "target", "timeout", "verbose"),
)
# Parameters that are described in their own way.
DESCRIBED_SPECIALLY = (
    *("batch_size", "constraints", "cv", "estimator", "initial_results", "param_distributions"),
    *("random_state", "refit"),
)


def describe_search(search: Any, settings: Settings, state: SearchState) -> dict[str, Any]:
    """Describe all settings that affect the candidates of a search or their scores.

    This includes all parameters except those in `MAY_CHANGE`, the data and routed metadata.

    Parameters
    ----------
    search : SILBOSearchCV
    settings : Settings
    state : SearchState
        The data, splits and other internal state of the running search.

    Returns
    -------
    description : dict
        Description of the search as JSON-compatible data.

    Raises
    ------
    ValueError
        If the splits are not reproducible, or a parameter cannot be described.
    """
    metric = search.refit if isinstance(search.refit, str) else None
    by_order = isinstance(search.scoring, dict) and metric is None  # which is searched
    others = (*MAY_CHANGE, *DESCRIBED_SPECIALLY)
    names = [name for name in signature(type(search)).parameters if name not in others]
    description = {
        "entry point": type(search).__name__,
        "param_distributions": describe_space(settings.space),
        "estimator": describe(search.estimator),
        "X": describe_data(state.X),
        "y": describe_data(state.y),
        "fit parameters": _described_data(state.fit_params),
        "scorer parameters": _described_data(state.score_params),
        "order of scoring": [str(name) for name in search.scoring] if by_order else None,
        "cv": {"digest": _splits_digest(state)},
        "refit": list(search._goals) if search._goals else metric,
        **{name: describe(getattr(search, name)) for name in names},
    }
    # with "auto", `n_jobs` decides, which may change
    is_auto = search.batch_size in ("auto", 1)
    description["batch_size"] = "'auto' or 1" if is_auto else int(search.batch_size)
    description["constraints"] = settings.constraints.described
    description["initial_results"] = describe(settings.results) if settings.results[0] else None
    description["initial candidates"] = describe(settings.initial.params)
    return description


def _described_data(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: describe_data(data) for name, data in sorted(parameters.items())}


def _splits_digest(state: SearchState) -> str:
    first, second = (
        joblib.hash([list(map(np.ascontiguousarray, pair)) for pair in state.split()])
        for _ in range(2)
    )
    if first != second:
        raise ValueError(
            "With a journal, `cv` must give the same splits every time, so that candidates of "
            f"different runs can be compared, got {state.splitter!r}. Set its random_state to an "
            "integer."
        )
    return first
