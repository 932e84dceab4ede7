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
