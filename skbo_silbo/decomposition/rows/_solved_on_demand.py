"""Attributes of ``fit`` that are computed when they are first read."""

from sklearn.exceptions import NotFittedError


class SolvedOnDemand:
    """An attribute of ``fit`` that chunks leave to be computed when it is first read.

    It is no data descriptor: what ``fit`` stores in the instance under the same name wins. The
    owner has ``_unsolved`` (moments, or absent), ``_moments`` and ``_solve_on_demand(moments)``.
    """

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        state = instance.__dict__
        moments = state.pop("_unsolved", None)
        if moments is not None and moments is state["_moments"]:
            instance._solve_on_demand(moments)
        if self.name in state:
            return state[self.name]
        if "components_" in state:
            moments = None
        if moments is not None:
            state["_unsolved"] = moments
        raise _missing(instance, self.name, moments)


def _missing(instance, name, moments):
    if moments is None:
        return AttributeError(f"{type(instance).__name__!r} object has no attribute {name!r}")
    return NotFittedError(
        f"{name} is not known yet: the {moments.n:.12g} rows seen lie in "
        f"{int((moments.counts > 0).sum())} slices, too few for n_components="
        f"{instance.n_components!r}. Pass more rows to partial_fit."
    )
