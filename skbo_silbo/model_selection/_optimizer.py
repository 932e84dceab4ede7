"""Create the optimiser of a search."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from skbo_silbo._checks import brief
from skbo_silbo.journal.state import engine_options
from skbo_silbo.minimization.methods import make_optimizer as make_by_method
from skbo_silbo.model_selection._goals import ParEGO
from skbo_silbo.model_selection._settings import Settings
from skbo_silbo.optimizers import SILBO

OWN = ("embedding", "n_components", "n_initial", "surrogate")  # also parameters of the search


def make_optimizer(search: Any, settings: Settings, random_state: Any, n_initial: Any) -> Any:
    """Create the optimiser of a search with its constraints and `initial_results`.

    Parameters
    ----------
    search : SILBOSearchCV
    settings : Settings
    random_state : int, RandomState or None
    n_initial : int or "auto"
        Size of the initial design.

    Raises
    ------
    ValueError
        If an option is unknown or invalid, no candidate satisfies the constraints, or a candidate
        of `initial_results` is outside the space.
    """
    own = {name: getattr(search, name) for name in OWN} | {"n_initial": n_initial}
    options = {k: v for k, v in own.items() if not (isinstance(v, str) and v == "auto")}
    method = ParEGO if search._goals else search.method
    options |= _check_options(search)
    optimizer = make_by_method(method, settings.space, random_state, options)
    if search.constraints is not None:
        optimizer.constrain(search.constraints)
        deepcopy(optimizer).ask()  # raises if no candidate satisfies the constraints
    params, scores = settings.results
    if not params:
        return optimizer
    try:
        return optimizer.tell(params, [-score for score in scores])
    except ValueError as error:
        raise ValueError(
            "`initial_results` must be inside the search space. Remove other candidates or widen "
            f"the space. {error}"
        ) from error


def _check_options(search: Any) -> Mapping[str, Any]:
    options = {} if search.optimizer_options is None else search.optimizer_options
    wrong = set(OWN)
    if isinstance(options, Mapping) and search.method == "silbo":
        wrong |= options.keys() - set(engine_options(SILBO))
    if not isinstance(options, Mapping) or options.keys() & wrong:
        allowed = [name for name in engine_options(SILBO) if name not in OWN]
        raise ValueError(
            f"`optimizer_options` must be None or a dict with keys among {allowed}, got "
            f"{brief(options)}. {', '.join(OWN)} are parameters of the search itself."
        )
    return options
