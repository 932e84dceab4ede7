"""The one-standard-error rule as a `refit` callable."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from skbo_silbo.space.values import is_number


@dataclass(frozen=True)
class OneStandardError:
    """Choose the simplest candidate whose score is within one standard error of the best.

    Pass an instance as `refit` to :class:`SILBOSearchCV`, or to any search of scikit-learn. The
    standard error is that of the best candidate's mean score over the splits (Breiman et al. 1984).

    Parameters
    ----------
    param : str
        Parameter whose value measures the complexity of a candidate, such as ``"max_depth"``.
    smaller_is_simpler : bool, default=True
        Whether smaller values of `param` mean simpler models. For the strength of a penalty, such
        as ``alpha`` of Ridge, set it to False.
    metric : str, default="score"
        Name of the metric to compare. It must be set if `scoring` contains several metrics.

    Raises
    ------
    ValueError
        When called, if ``cv_results_`` has no columns for `param` or `metric`, if no candidate has
        a score, or if there is only one split.

    Notes
    -----
    Among equally simple candidates, the one with the highest score is chosen. A candidate counts as
    the least simple if `param` is not a number, for example None, or is missing from its branch. As
    with any callable `refit`, the search has no `best_score_`.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees. Section 3.4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skbo_silbo import SILBOSearchCV
    >>> from skbo_silbo.model_selection import OneStandardError
    >>> search = SILBOSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 6, 8]}, n_iter=6,
    ...     refit=OneStandardError("max_depth"), initial_params=None, random_state=0,
    ... ).fit(*load_breast_cancer(return_X_y=True))
    >>> best = search.cv_results_["mean_test_score"].argmax()
    >>> bool(search.best_params_["max_depth"] <= search.cv_results_["param_max_depth"][best])
    True
    """

    param: str
    _: KW_ONLY
    smaller_is_simpler: bool = True
    metric: str = "score"

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the row of ``cv_results_`` with the candidate to refit.

        Parameters
        ----------
        cv_results : dict of arrays

        Returns
        -------
        index : int
        """
        means = np.array(self._column(cv_results, f"mean_test_{self.metric}", "metric"), float)
        complexity = self._complexity(cv_results)
        if not np.isfinite(means).any():
            raise ValueError("a candidate must have a score, got none.")
        means[~np.isfinite(means)] = -np.inf
        threshold = means.max() - self._standard_error(cv_results, int(means.argmax()))
        order = np.lexsort((-means, complexity))
        return int(next(row for row in order if means[row] >= threshold))

    def _complexity(self, cv_results):
        values = self._column(cv_results, f"param_{self.param}", "param")
        sign = 1.0 if self.smaller_is_simpler else -1.0
        return [sign * float(v) if is_number(v) else np.inf for v in values]

    def _standard_error(self, cv_results, best):
        start, end = "split", f"_test_{self.metric}"
        names = [name for name in cv_results if name.startswith(start) and name.endswith(end)]
        if len(names) < 2:
            raise ValueError(
                f"`cv` must have at least two splits for a standard error, got {len(names)}."
            )
        scores = np.array([cv_results[name][best] for name in names], float)
        return np.std(scores, ddof=1) / np.sqrt(len(scores))

    def _column(self, cv_results, column, parameter):
        if column not in cv_results:
            start = column.split(getattr(self, parameter))[0]
            known = [key.removeprefix(start) for key in cv_results if key.startswith(start)]
            raise ValueError(
                f"`{parameter}` must be one of {known}, got {getattr(self, parameter)!r}."
            )
        return cv_results[column]
