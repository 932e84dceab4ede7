"""The optimiser of a search, from the parameters of the search."""

from collections.abc import Mapping

from skbo_silbo.model_selection._initial_results import read_initial_results
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers._identity import option_names

OWN = ("embedding", "n_components", "n_initial", "surrogate")  # parameters of the search


def make_optimizer(search, space, random_state):
    """Return the optimiser of a search, told its `initial_results`.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
    random_state : int, RandomState or None

    Raises
    ------
    ValueError
        If an option is unknown or invalid, or `initial_results` are not of this space.
    """
    own = {name: getattr(search, name) for name in OWN}
    others = _checked(search.optimizer_options)
    optimizer = SILBO(space, random_state=random_state, **own, **others)
    params, scores = read_initial_results(search.initial_results, search.refit, space)
    if not params:
        return optimizer
    try:
        return optimizer.tell(params, [-score for score in scores])
    except ValueError as error:
        raise ValueError(
            f"initial_results must be candidates of this space: {error} Leave out those that "
            "are not, or widen the space."
        ) from error


def _checked(options):
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(
            "optimizer_options must be None or a dict of arguments of SILBO: got "
            f"{type(options).__name__}. Write optimizer_options={{'acquisition': 'ucb'}}."
        )
    if own := [name for name in options if name in OWN]:
        raise ValueError(
            f"optimizer_options must not have parameters of the search itself: got {own}. Write "
            f"SILBOSearchCV(..., {own[0]}=...)."
        )
    known = [name for name in option_names(SILBO) if name not in OWN]
    if unknown := [name for name in options if name not in known]:
        raise ValueError(
            f"optimizer_options must be among {known}: got {unknown}. Rename or remove them."
        )
    return dict(options)
