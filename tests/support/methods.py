"""The methods of `minimize` by name: what moves in the package is changed here alone."""

from skbo_silbo.minimization.methods import METHODS as METHODS
