"""A surrogate that sees its inputs through a function."""


class ImageProcess:
    """A surrogate on ``view(Z)`` in place of Z.

    Parameters
    ----------
    surrogate : object
        Conditioned on viewed inputs.
    view : callable
        From (n, r) to (n, k).
    """

    def __init__(self, surrogate, view):
        self.surrogate = surrogate
        self.view = view

    def predict(self, Z):
        """Return mean and standard deviation at the rows of Z."""
        return self.surrogate.predict(self.view(Z))

    def with_points(self, Z, y):
        """Return a surrogate with points added, hyperparameters kept."""
        return ImageProcess(self.surrogate.with_points(self.view(Z), y), self.view)

    def to_state(self):
        """Return the hyperparameters as plain data, exactly."""
        return self.surrogate.to_state()
