"""Problems of the public collection BOCoDe (package ``bocode``, extra ``bench-public``)."""

from functools import cache, partial

import numpy as np

from skbo_silbo.problems import Problem


@cache
def load_bocode(name):
    """Return the collection's own problem."""
    import bocode

    return bocode.get_problem(name)()


def bocode_problem(name):
    """Return an unconstrained problem with one objective as one to minimise.

    Parameters
    ----------
    name : str
        As the collection calls it, "Rover_100D" for example.

    Returns
    -------
    problem : Problem
        On the collection's own box. Whole and categorical inputs are numbers of that box, brought
        to the nearest value allowed, as the collection itself does. The optimum is not known.

    Raises
    ------
    ValueError
        When the problem has constraints or several objectives.
    """
    theirs = load_bocode(name)
    if theirs.num_objectives != 1 or theirs.num_constraints:
        raise ValueError(
            f"name must be that of a problem with one objective and no constraint: {name} has "
            f"{theirs.num_objectives} and {theirs.num_constraints}. Choose another."
        )
    return Problem(f"bocode {name}", partial(_evaluate, name), theirs.torch_bounds.numpy())


def _evaluate(name, X):
    """Return the values with their sign changed, as the collection maximises."""
    import torch

    theirs = load_bocode(name)
    allowed = theirs.enforce_variable_types(torch.as_tensor(X, dtype=torch.double))
    values, _ = theirs.evaluate(allowed)
    return -np.asarray(values[:, 0])
