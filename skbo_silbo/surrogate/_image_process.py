"""A surrogate that sees its inputs through a function."""

import numpy as np

from skbo_silbo.surrogate._central_differences import central_differences


class ImageProcess:
    """A surrogate on ``image(Z)`` in place of Z.

    Parameters
    ----------
    surrogate : object
        Conditioned on images.
    image : callable
        From (n, r) to (n, k).
    n_coordinates : int
        r.
    """

    def __init__(self, surrogate, image, n_coordinates):
        self.surrogate = surrogate
        self.image = image
        self.n_coordinates = n_coordinates

    @property
    def relevance_(self):
        """Ones, (r,): one length scale is shared by all."""
        return np.ones(self.n_coordinates)

    def predict(self, Z):
        """Return mean and standard deviation at the rows of Z."""
        return self.surrogate.predict(self.image(Z))

    def predict_gradient(self, Z):
        """Return mean, standard deviation and their gradients at the rows of Z."""
        return central_differences(self.predict, Z)

    def log_predictive_density(self, Z, y):
        """Return the log density of every value, noise included, (m,)."""
        return self.surrogate.log_predictive_density(self.image(Z), y)

    def with_points(self, Z, y):
        """Return a surrogate with points added, hyperparameters kept."""
        surrogate = self.surrogate.with_points(self.image(Z), y)
        return ImageProcess(surrogate, self.image, self.n_coordinates)

    def to_state(self):
        """Return the hyperparameters as plain data, exactly."""
        return self.surrogate.to_state()
