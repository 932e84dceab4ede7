"""The header of a journal: versions, seed, and the settings that identify the search."""

from collections.abc import Callable
from typing import Any

from skbo_silbo._checks import brief
from skbo_silbo.journal.records import UNREADABLE
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.descriptions import box_from_data, space_from_description

KINDS = {"made with": dict, "seed": int, "fixed": dict, "search": dict}  # types of the entries


def check_header(header: dict[str, Any], damaged: Callable[[int, object], Exception]) -> None:
    """Raise the error returned by ``damaged(-1, reason)`` if a header is invalid."""
    for name, kind in KINDS.items():
        value = header.get(name)
        if type(value) is not kind or (kind is int and value < 0):
            raise damaged(-1, f"{name!r} must be of type {kind.__name__}, got {brief(value)}")
    if not isinstance(header["search"].get("entry point"), str):
        raise damaged(-1, "'entry point' must be text")


def described_branches(search: dict[str, Any]) -> Any:
    """Return the description of the named parameters of a search, or None for a box."""
    if "param_distributions" in search:
        return search["param_distributions"]
    return search["space"].get("parameters")


def read_space(search: dict[str, Any], damaged: Callable[[int, object], Exception]) -> AnySpace:
    """Restore the space of a search, with labels in the place of values that JSON does not have."""
    try:
        branches = described_branches(search)
        if branches is None:
            return box_from_data(search["space"]["bounds"])
        return space_from_description(branches)
    except UNREADABLE as error:
        raise damaged(-1, error) from error
