"""One set of cross-validation splits for all candidates of a search."""


class FrozenSplits:
    """A splitter that splits when first asked, and gives the same splits ever after.

    ``evaluate_candidates`` splits anew at every call; with a shuffling splitter without a seed,
    candidates of different calls would be compared on different data.

    Parameters
    ----------
    cv : splitter
        An object with ``split``.
    """

    def __init__(self, cv):
        self.cv = cv
        self._splits = None

    def split(self, X, y=None, **params):
        """Return the (train, test) pairs of the first call."""
        if self._splits is None:
            self._splits = list(self.cv.split(X, y, **params))
        return iter(self._splits)


def freeze(cv):
    """Return what to pass to ``evaluate_candidates`` as `cv`, for the `cv` of a search.

    Only a splitter object can shuffle differently at every call; a number or a list of splits is
    read by scikit-learn once per fit, into constant splits, and needs None.
    """
    return FrozenSplits(cv) if hasattr(cv, "split") and not isinstance(cv, str) else None
