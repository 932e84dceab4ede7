"""An estimator that learns nothing: what it scores is said by its parameters."""

import numpy as np
from sklearn.base import BaseEstimator


class Peak(BaseEstimator):
    """Scores -(a - .7)^2 - (b - .2)^2, and is not fitted for bad kinds; keeps what was fitted."""

    fitted: list = []  # noqa: RUF012

    def __init__(self, a=0.0, b=0.2, kind="good", n=1):
        self.a, self.b, self.kind, self.n = a, b, kind, n

    def fit(self, X, y=None):
        if self.kind == "bad" or (self.kind == "sometimes" and y[0] == 0):
            raise RuntimeError(f"kind {self.kind} cannot be fitted")
        Peak.fitted.append({"a": self.a, "b": self.b, "kind": self.kind})
        self.mean_ = float(np.mean(X))
        return self

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2
