"""The neural network task of the SILBO paper: from which weights Adam should start.

A multi-layer perceptron with one hidden layer (ReLU, softmax output, cross-entropy) is trained by
Adam for a fixed number of epochs. The 500 numbers to tune are the INITIAL weights from its 50
hidden units to its 10 outputs; the other initial parameters, the split of the data and the order
of the batches are fixed by the seed, so that the value is a deterministic function.

=======  =========  ==========================================
symbol   shape      meaning
=======  =========  ==========================================
V        (p, 50)    weights from the inputs to the hidden layer
a        (50,)      its biases
W        (50, 10)   weights from the hidden layer to the outputs
b        (10,)      their biases
T        (n, 10)    classes, one column each (0 or 1)
=======  =========  ==========================================
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax
from sklearn.datasets import fetch_openml, load_digits
from sklearn.model_selection import train_test_split

from skbo_silbo._checks import check_choice
from skbo_silbo.problems import Problem
from skbo_silbo.problems._problem import as_generator

N_HIDDEN = 50
N_CLASSES = 10
WEIGHT_BOUND = 1.0  # three times Glorot's bound for this layer, (6 / 60)^(1/2)
N_MNIST = 10000  # images used of the 70000: an evaluation stays well under a second
BATCH_SIZE = 100
N_EPOCHS = 5
LEARNING_RATE = 1e-2  # losses of random points on digits are .17 to .30; published: .14 to .30
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # Adam


def mlp_weights(data="digits", random_state=0):
    """Return the task of choosing 500 initial weights of a neural network.

    Parameters
    ----------
    data : {"digits", "mnist"}, default="digits"
        The images: scikit-learn's bundled digits (1797 of 8 x 8), or MNIST (10000 of its 28 x 28
        images), which `fetch_openml` reads with pandas, from openml.org or scikit-learn's cache.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the split in two halves, the other initial weights and the order of the batches.

    Returns
    -------
    problem : Problem
        500 inputs in [-1, 1]: the rows of the 50 x 10 matrix one after the other. The value is the
        mean cross-entropy (nats) on the half of the images not trained on, after 5 epochs of Adam
        in batches of 100. The optimum is not known.

    Raises
    ------
    ValueError
        If `data` is neither "digits" nor "mnist".
    ConnectionError
        If MNIST is neither cached nor can be fetched.

    References
    ----------
    Chen et al. (2020), arXiv 2005.14601, section 5.3, which tunes initial weights and does not
    print the other settings; after Oh, Gavves, Welling (2018), BOCK.

    Examples
    --------
    >>> from benchmarks.search.network_weights import mlp_weights
    >>> problem = mlp_weights()
    >>> problem.n_dims
    500
    >>> bool(0 < problem([0.0] * 500) < 2.4)
    True
    """
    check_choice("data", data, ("digits", "mnist"))
    X, classes = _digits() if data == "digits" else _mnist()
    rng = as_generator(random_state)
    split = {"test_size": 0.5, "stratify": classes, "random_state": int(rng.integers(2**31))}
    X, X_validation, classes, classes_validation = train_test_split(X, classes, **split)
    bound = np.sqrt(6.0 / (X.shape[1] + N_HIDDEN))  # Glorot and Bengio (2010)
    function = MLPLoss(
        X,
        np.eye(N_CLASSES)[classes],
        X_validation,
        np.eye(N_CLASSES)[classes_validation],
        rng.uniform(-bound, bound, (X.shape[1], N_HIDDEN)),
        _batches(rng, len(X)),
    )
    bounds = np.tile([-WEIGHT_BOUND, WEIGHT_BOUND], (N_HIDDEN * N_CLASSES, 1))
    return Problem(f"mlp-weights({data})", function, bounds)


@dataclass(frozen=True, eq=False, repr=False)
class MLPLoss:
    """Validation loss after training, for rows of initial output weights."""

    X: np.ndarray
    T: np.ndarray
    X_validation: np.ndarray
    T_validation: np.ndarray
    V: np.ndarray
    batches: tuple

    def __call__(self, weights):
        """Return the losses, (n,), of rows of weights, (n, 500)."""
        return np.array([self._loss(row.reshape(N_HIDDEN, N_CLASSES)) for row in weights])

    def _loss(self, W):
        start = [self.V, np.zeros(N_HIDDEN), W, np.zeros(N_CLASSES)]
        trained = train(self.X, self.T, start, self.batches)
        return cross_entropy(self.X_validation, self.T_validation, trained)


def train(X, T, parameters, batches):
    """Return the parameters V, a, W, b after one step of Adam for every batch of row numbers.

    D. P. Kingma, J. Ba (2015), Adam: a method for stochastic optimization, the form with the two
    bias corrections in the step length (end of section 2).
    """
    parameters = [np.array(p) for p in parameters]
    means = [np.zeros_like(p) for p in parameters]
    squares = [np.zeros_like(p) for p in parameters]
    for t, rows in enumerate(batches, start=1):
        step = LEARNING_RATE * np.sqrt(1 - BETA_2**t) / (1 - BETA_1**t)
        gradients = loss_gradients(X[rows], T[rows], parameters)
        for p, m, v, g in zip(parameters, means, squares, gradients, strict=True):
            m += (1 - BETA_1) * (g - m)
            v += (1 - BETA_2) * (g * g - v)
            p -= step * m / (np.sqrt(v) + EPSILON)
    return parameters


def cross_entropy(X, T, parameters):
    """Return the mean cross-entropy in nats."""
    _, log_shares = _forward(X, parameters)
    return -(T * log_shares).sum() / len(X)


def loss_gradients(X, T, parameters):
    """Return the gradients of `cross_entropy` by V, a, W and b."""
    hidden, log_shares = _forward(X, parameters)
    error = (np.exp(log_shares) - T) / len(X)
    back = (error @ parameters[2].T) * (hidden > 0)
    return X.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)


def _forward(X, parameters):
    V, a, W, b = parameters
    hidden = np.maximum(X @ V + a, 0.0)
    return hidden, log_softmax(hidden @ W + b, axis=1)


def _batches(rng, n):
    """Return the rows of every batch: each epoch a permutation of the rows, cut in batches."""
    cuts = np.arange(BATCH_SIZE, n, BATCH_SIZE)
    epochs = (np.split(rng.permutation(n), cuts) for _ in range(N_EPOCHS))
    return tuple(rows for epoch in epochs for rows in epoch)


def _digits():
    X, classes = load_digits(return_X_y=True)
    return X / 16.0, classes


def _mnist():
    try:
        X, names = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False)
    except OSError as error:  # URLError is one
        raise ConnectionError(
            "data='mnist' must be in scikit-learn's cache or fetched from openml.org: got "
            f"{error!r}. Connect to the network once, or use data='digits'."
        ) from error
    return X[:N_MNIST] / 255.0, names[:N_MNIST].astype(int)
