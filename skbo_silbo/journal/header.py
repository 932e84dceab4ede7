"""The header of a journal: versions, seed, and the settings that identify the search."""

from collections.abc import Sequence
from typing import Any

from skbo_silbo._typing import Damaged
from skbo_silbo.journal.records import UNREADABLE, PointFormat, require_type
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.descriptions import box_from_data, space_from_description

KINDS = {"made with": dict, "seed": int, "fixed": dict, "search": dict}  # types of the entries


def check_header(header: dict[str, Any], damaged: Damaged) -> None:
    """Raise the error returned by ``damaged(-1, reason)`` if a header is invalid."""
    try:
        for name, kind in KINDS.items():
            require_type(header, name, kind)
        require_type(header["search"], "entry point", str)
    except UNREADABLE as error:
        raise damaged(-1, error) from error
    if not all(type(v) is str or (type(v) is int and v > 0) for v in header["fixed"].values()):
        raise damaged(-1, f"'fixed' must have text and positive numbers, got {header['fixed']!r}")


def read_format(
    search: dict[str, Any],
    damaged: Damaged,
    space: AnySpace | None = None,
    candidates: Sequence[dict[str, Any]] = (),
) -> PointFormat:
    """Return the conversion between points and JSON data, from the header of a journal.

    Parameters
    ----------
    search : dict
        Entry "search" of the header.
    damaged : callable
        Function that returns the error to raise if the description is invalid.
    space : Space, SpaceUnion or Box, default=None
        The search space. If None, it is restored from the description, with labels in place of
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
