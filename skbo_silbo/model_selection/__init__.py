"""Hyperparameter search."""

from skbo_silbo.model_selection._search import SILBOSearchCV

__all__ = ["SILBOSearchCV"]
