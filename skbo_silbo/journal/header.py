"""The header of a journal: versions, seed, and the settings that identify the search."""

from collections.abc import Callable, Sequence
from typing import Any

from skbo_silbo._checks import brief
from skbo_silbo.journal.records import UNREADABLE, PointFormat
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.descriptions import box_from_data, space_from_description

KINDS = {"made with": dict, "seed": int, "fixed": dict, "search": dict}  # types of the entries


def check_header(header: dict[str, Any], damaged: Callable[[int, object], Exception]) -> None:
    """Raise the error returned by ``damaged(-1, reason)`` if a header is invalid."""
    for name, kind in KINDS.items():
        value = header.get(name)
        if type(value) is not kind or (isinstance(value, int) and value < 0):
            raise damaged(-1, f"{name!r} must be of type {kind.__name__}, got {brief(value)}")
    if not isinstance(header["search"].get("entry point"), str):
        raise damaged(-1, "'entry point' must be text")
    if not all(type(v) is str or (type(v) is int and v > 0) for v in header["fixed"].values()):
        raise damaged(-1, f"'fixed' must have text and positive numbers, got {header['fixed']!r}")


def read_format(
    search: dict[str, Any],
    damaged: Callable[[int, object], Exception],
    space: AnySpace | None = None,
    candidates: Sequence[dict[str, Any]] = (),
) -> PointFormat:
    """Return the form of the points in a journal, from the description of the search.

    Parameters
    ----------
    search : dict
        Entry "search" of the header.
    damaged : callable
        Function that returns the error to raise if the description is invalid.
    space : Space, SpaceUnion or Box, default=None
        The search space. If None, it is restored from the description, with labels in the place of
        values that JSON does not represent.
    candidates : list of dict, default=()
        Points that may be outside the space.
    """
    try:
        parts = search.get("space", {})
        branches = search.get("param_distributions", parts.get("parameters"))
        if space is None and branches is None:
            space = box_from_data(parts["bounds"])
        elif space is None:
            space = space_from_description(branches)
        return PointFormat(space, branches, candidates)
    except UNREADABLE as error:
        raise damaged(-1, error) from error
