"""Hyperparameter search."""

from skbo_silbo.model_selection._early_stopped import EarlyStopped
from skbo_silbo.model_selection._search import SILBOSearchCV

__all__ = ["EarlyStopped", "SILBOSearchCV"]
