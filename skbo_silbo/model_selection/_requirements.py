"""What a search is refused for, before there is a journal and a fit."""

from collections.abc import Mapping

from joblib import effective_n_jobs

from skbo_silbo.minimization._first_points import warn_of_first_points_only
from skbo_silbo.model_selection._backend import (
    require_that_fits_can_be_given_up,
    require_that_fits_can_be_sent,
)
from skbo_silbo.model_selection._racing import FEWEST_FOLDS
from skbo_silbo.space import as_space, warn_of_intervals


def read_space(given):
    """Return the space that `param_distributions` says.

    Raises
    ------
    ValueError
    """
    is_list = isinstance(given, list)
    if is_list and not (given and all(isinstance(b, Mapping) for b in given)):
        raise ValueError(
            "param_distributions must be a dict, a list of at least one dict or a Space: got "
            f"{given!r}. Name every parameter."
        )
    warn_of_intervals(given)
    return as_space(given)


def require_options_that_fit(search, trial, given):
    """Refuse options that cannot be honoured.

    Parameters
    ----------
    search : SILBOSearchCV
    trial : SILBO
        An optimiser as the search has it, told its `initial_results`. It is used up.
    given : Given

    Raises
    ------
    ValueError

    Warns
    -----
    FirstPointsOnlyWarning
        If the search ends before there is a model.
    """
    for name in ("timeout", "max_time"):
        if isinstance(getattr(search, name), bool):
            raise ValueError(
                f"{name} must be None or seconds: got {getattr(search, name)}. Give a number."
            )
    if search.n_initial == "auto":
        n_known = len(trial.func_vals_)
        n_for_model = search.n_iter - given.n_outside
        warn_of_first_points_only(trial, "n_iter", n_for_model, n_known, stacklevel=2)
    if len(given.params) > search.n_iter:
        raise ValueError(
            f"initial_params must be at most n_iter={search.n_iter} candidates: got "
            f"{len(given.params)}. Give n_iter more, or fewer of them."
        )
    require_that_fits_can_be_given_up(search.timeout)
    require_that_fits_can_be_sent(search, effective_n_jobs(search.n_jobs))
    if search.racing and search.n_splits_ <= FEWEST_FOLDS:
        raise ValueError(
            f"racing must be False with {search.n_splits_} splits: a candidate is stopped after "
            f"{FEWEST_FOLDS} folds at the earliest. Give cv more of them."
        )
    if search.fold_noise or search.racing:
        _require_that_noise_is_taken(search, trial)


def _require_that_noise_is_taken(search, trial):
    try:
        trial.tell(trial.ask(), 0.0, noise_std=1.0)
    except ValueError as error:
        raise ValueError(
            f"{'fold_noise' if search.fold_noise else 'racing'} must be False with "
            f"surrogate={search.surrogate!r}, which takes no noise for single values. Leave one "
            "of them out."
        ) from error
