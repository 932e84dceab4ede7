"""Constructors of estimators, which store every parameter under its name and do nothing else."""

from dataclasses import dataclass, fields
from typing import dataclass_transform


@dataclass_transform()
def stores_parameters(cls):
    """Give a class the constructor that its annotations say, and leave no trace of a dataclass.

    Dask reads a dataclass by its fields alone, fitted or not, pandas spreads it, and ``help`` shows
    defaults as attributes.
    """
    dataclass(eq=False, repr=False, match_args=False)(cls)
    for parameter in fields(cls):
        delattr(cls, parameter.name)  # the default, of which the signature has another
    for name in ("__dataclass_fields__", "__dataclass_params__", "__replace__"):
        if name in vars(cls):
            delattr(cls, name)
    return cls
