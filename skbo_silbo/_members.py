"""What a part of a user's own must have: the members of a `typing.Protocol`."""

import inspect

from skbo_silbo._checks import LONGEST_SHOWN, brief


def missing_members(given, protocol):
    """Return the names that a `typing.Protocol` asks for and an object has not, sorted."""
    asked = {*vars(protocol), *getattr(protocol, "__annotations__", {})}
    public = {name for name in asked if not name.startswith("_")} | ({"__call__"} & asked)
    return sorted(name for name in public if not _has(given, name))


def _has(given, name):
    if name == "__call__":  # which every class has, of its own
        return callable(given)
    return hasattr(given, name) or hasattr(type(given), name)


def check_members(name, given, protocol, remedy="Add what is missing."):
    """Refuse a class, and an object without the members that a `typing.Protocol` asks for.

    Its methods have to take the arguments that the protocol says.
    """
    if isinstance(given, type):
        raise ValueError(
            f"{name} must be an object: got the class {given.__name__}. Write {given.__name__}()."
        )
    missing = missing_members(given, protocol)
    if missing:
        raise ValueError(
            f"{name} must have {', '.join(missing)}, as {_public_name(protocol)} says: got "
            f"{brief(given)}. {remedy}"
        )
    check_methods(name, given, protocol)


def check_methods(name, given, protocol):
    """Refuse an object whose methods do not take the arguments that a `typing.Protocol` says.

    Methods that it does not have are left out.
    """
    for method, member in vars(protocol).items():
        if not _has(given, method):
            continue
        if inspect.isfunction(member) and (method == "__call__" or not method.startswith("_")):
            asked = list(inspect.signature(member).parameters.values())[1:]  # without self
            part = given if method == "__call__" else getattr(given, method)
            check_takes(name, method, part, asked, _public_name(protocol))


def _public_name(protocol):
    """Where a user finds a protocol: its path without the private modules."""
    public = (part for part in protocol.__module__.split(".") if not part.startswith("_"))
    return ".".join([*public, protocol.__name__])


def check_takes(name, method, part, asked, says):
    """Refuse what cannot be called with the parameters asked for; what is written in C passes."""
    by_name = [p.name for p in asked if p.kind is p.KEYWORD_ONLY]
    shown = ", ".join([p.name for p in asked if p.kind is not p.KEYWORD_ONLY])
    if by_name:
        shown = f"{shown}, *, {', '.join(by_name)}"
    got = brief(part)
    try:
        got = inspect.signature(part)
        got.bind(*asked[: len(asked) - len(by_name)], **dict.fromkeys(by_name))
    except ValueError:  # written in C, without a signature
        return
    except TypeError as error:
        why = str(error)[:LONGEST_SHOWN]
        called = name if method == "__call__" else f"{method} of {name}"
        raise ValueError(
            f"{called} must take ({shown}), as {says} says: got {got} ({why}). Write def "
            f"{f'{name}({shown})' if inspect.isfunction(part) else f'{method}(self, {shown})'}."
        ) from None
