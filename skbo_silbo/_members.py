"""Check that objects passed by users implement a `typing.Protocol`."""

import inspect

from skbo_silbo._checks import LONGEST_SHOWN, brief


def missing_members(given, protocol):
    """Return the names of the protocol's members that an object lacks, sorted."""
    asked = {*vars(protocol), *getattr(protocol, "__annotations__", {})}
    public = {name for name in asked if not name.startswith("_")} | ({"__call__"} & asked)
    return sorted(name for name in public if not _has(given, name))


def _has(given, name):
    if name == "__call__":  # hasattr is True for every class
        return callable(given)
    return hasattr(given, name) or hasattr(type(given), name)


def check_members(name, given, protocol, remedy="Add the missing members."):
    """Check that an object implements a protocol, with matching signatures."""
    if isinstance(given, type):
        raise ValueError(
            f"{name} must be an object, got the class {given.__name__}. Write {given.__name__}()."
        )
    missing = missing_members(given, protocol)
    if missing:
        raise ValueError(
            f"{name} must implement {_public_name(protocol)}, but {', '.join(missing)} is missing, "
            f"got {brief(given)}. {remedy}"
        )
    check_methods(name, given, protocol)


def check_methods(name, given, protocol):
    """Check that an object's methods accept the arguments that a protocol defines.

    Methods that the object does not have are ignored.
    """
    for method, member in vars(protocol).items():
        if not _has(given, method):
            continue
        if inspect.isfunction(member) and (method == "__call__" or not method.startswith("_")):
            asked = list(inspect.signature(member).parameters.values())[1:]  # without self
            func = given if method == "__call__" else getattr(given, method)
            check_takes(name, method, func, asked, _public_name(protocol))


def _public_name(protocol):
    """Return the public import path of a protocol."""
    public = (module for module in protocol.__module__.split(".") if not module.startswith("_"))
    return ".".join([*public, protocol.__name__])


def check_takes(name, method, func, asked, protocol_name):
    """Check that a function accepts parameters of the given names."""
    by_name = [p.name for p in asked if p.kind is p.KEYWORD_ONLY]
    shown = ", ".join([p.name for p in asked if p.kind is not p.KEYWORD_ONLY])
    if by_name:
        shown = f"{shown}, *, {', '.join(by_name)}"
    got = brief(func)
    try:
        got = inspect.signature(func)
        got.bind(*asked[: len(asked) - len(by_name)], **dict.fromkeys(by_name))
    except ValueError:  # functions written in C may not have a signature
        return
    except TypeError as error:
        why = str(error)[:LONGEST_SHOWN]
        called = name if method == "__call__" else f"{method} of {name}"
        raise ValueError(
            f"{called} must take ({shown}), see {protocol_name}, got {got} ({why}). Write def "
            f"{f'{name}({shown})' if inspect.isfunction(func) else f'{method}(self, {shown})'}."
        ) from None
