"""What a nonlinear embedding goes with: no gradients, no preimage but its own."""

from types import MappingProxyType

from skbo_silbo.acquisition._box_search import N_ROUNDS, BoxSearch
from skbo_silbo.mapping._bottom_up import BottomUp, InverseMapping

MAPPINGS = MappingProxyType({"auto": InverseMapping, "bottom-up": BottomUp})


def nonlinear_parts(mapping, search, sketch):
    """Return the mapping and the search for an embedding with ``inverse_transform`` alone.

    Raises
    ------
    ValueError
        When an option needs a linear embedding.
    """
    for name, value, allowed in (
        ("search", search, ("auto", "random")),
        ("sketch", sketch, ("auto", None)),
        ("mapping", mapping, tuple(MAPPINGS)),
    ):
        is_object = name == "mapping" and not isinstance(value, str)
        if not is_object and value not in allowed:
            raise ValueError(
                f"{name} must be one of {', '.join(map(repr, allowed))} with an embedding that has "
                f"inverse_transform but no components_: got {value!r}. Leave it out, or use a "
                "linear embedding."
            )
    made = MAPPINGS[mapping]() if isinstance(mapping, str) else mapping
    return made, BoxSearch(n_rounds=N_ROUNDS)
