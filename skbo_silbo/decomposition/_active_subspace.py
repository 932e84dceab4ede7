"""Active subspace of a regression function, from the gradients of a Gaussian process."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from sklearn.utils import check_array

from skbo_silbo._checks import check_pairs_fit
from skbo_silbo._numerics.gaussian_process import GaussianProcess, Observations
from skbo_silbo._numerics.hyperparameters import climb, searched_process
from skbo_silbo._numerics.priors import UNIFORM_WIDTH, HyperparameterPrior, sparse_prior
from skbo_silbo._typing import ArrayLike
from skbo_silbo.decomposition._projection import SupervisedProjection
from skbo_silbo.decomposition.rows._columns import Frame
from skbo_silbo.decomposition.rows._response import check_responses_vary
from skbo_silbo.decomposition.selection._n_components import check_identified

SEARCH_ROWS = 200  # samples in the search for hyperparameters
POLISH_ROWS = 600  # samples in the final optimisation of the hyperparameters
FLOOR = 1e-3  # ridge of the eigenvalue ratios, as a share of the first eigenvalue
MAX_REFITS = 2  # refits with scores as additional inputs
POLISH_ITERATIONS = 15  # L-BFGS-B iterations of the final optimisation


class ActiveSubspace(SupervisedProjection):
    """Active subspace estimated by Gaussian process regression.

    Find the directions along which the regression function changes most: the leading eigenvectors
    of the average of ``g(x) g(x)'`` over labelled and unlabelled samples, where g is the gradient
    of the posterior mean ([1]_, eq. 1.2, and [2]_, section 3). If gradients of y are passed to
    ``fit``, they are used instead and no process is fitted.

    The Gaussian process has a Matern-5/2 kernel with a length scale per feature. Its prior assumes
    that few features matter, or that all matter equally ([3]_, eq. 5). The process is refitted up
    to twice. The scores along the r directions found before are then additional inputs of the
    kernel, which helps if directions combine many features. A refit is kept only if it increases
    the log marginal likelihood by more than ``r (d - r) / 2 log(n_labeled)``, the penalty of
    Schwarz's criterion for directions learnt from the same labels. Unlike sliced inverse
    regression, the method finds directions in which y is symmetric, such as ``y = x_1^2``, and
    makes no assumption about the distribution of X. It only detects changes in the mean of y.
    Several responses have separate processes and equal weight.

    Features are divided by their standard deviation over the labelled samples, so that the result
    does not depend on units. The first j components span the j leading directions, for every j.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of components. "auto" maximises the ratio of successive eigenvalues, after adding a
        thousandth of the first eigenvalue to each (a ridge-type ratio [4]_). The last eigenvalue is
        compared with zero.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions. The entry of largest magnitude in each row is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples.
    eigenvalues_ : ndarray of shape (min(n_rows, n_features),)
        Eigenvalues of the average of ``g g'`` in decreasing order, where g is the gradient of y
        with respect to the standardised features. With several responses, each is divided by its
        standard deviation, and the average includes all of them.
    n_components_ : int
    length_scale_ : ndarray of shape (n_features,)
        Length scales of the kernel in the units of the features. The length scale of a constant
        feature is infinite. With several responses, this attribute and the next three have an
        additional first axis. These attributes are not set if gradients were passed to ``fit``.
    signal_variance_, noise_ : float
        Variance of the noise-free process and variance of the noise, in squared units of y.
    log_marginal_likelihood_ : float
        Log marginal likelihood of the centred labels. The likelihood is optimistic after a refit,
        since some inputs of the kernel were learnt from the same labels.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Notes
    -----
    Evaluating the likelihood takes O(n_l^3 + n_l^2 d) time for n_l labelled samples and d features.
    A fit takes several hundred evaluations of the likelihood on at most 200 samples, some twenty on
    at most 600, and three on all samples. The method is meant for up to a few thousand labels and
    any number of features; `OuterProductGradients` is faster for many labels
    (doc/benchmarks/sdr.rst). Float32 data are converted to float64.

    References
    ----------
    .. [1] P. Constantine, E. Dow, Q. Wang, "Active subspace methods in theory and practice", SIAM
       J. Sci. Comput. 36 (2014), eq. 1.2.
    .. [2] Y. Xia, H. Tong, W. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space",
       J. R. Stat. Soc. B 64 (2002), section 3 (outer product of gradients).
    .. [3] D. Eriksson, M. Jankowiak, "High-dimensional Bayesian optimization with sparse
       axis-aligned subspaces", UAI 2021, eq. 5.
    .. [4] Q. Xia, W. Xu, L. Zhu, "Consistently determining the number of factors in multivariate
       volatility modelling", Statistica Sinica 25 (2015), doi:10.5705/ss.2013.252.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.decomposition import ActiveSubspace
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> y = (X[:, 2] - X[:, 5]) ** 2
    >>> subspace = ActiveSubspace().fit(X, y)
    >>> np.abs(subspace.components_.round(1))
    array([[0. , 0. , 0.7, 0. , 0. , 0.7, 0. , 0. ]])
    """

    _takes = ("numeric", "multivariate")
    _by_value = True

    def __init__(self, n_components: int | str = "auto") -> None:
        self.n_components = n_components

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_unlabeled: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        gradients: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, one per row.
        y : array-like of shape (n_samples,) or (n_samples, q)
            Values of one or several responses. NaN marks unlabelled samples.
        X_unlabeled : array-like of shape (n_unlabeled, n_features), default=None
            Additional unlabelled samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the labelled samples in the likelihood and in the average of the gradients.
            Unlabelled samples have weight 1 in this average. Only the ratios of the weights matter:
            they are scaled to sum to the effective sample size ``(sum w)^2 / sum w^2``.
        gradients : array-like of shape (n_samples, n_features) or (n_samples, q, n_features), \
        default=None
            Gradients of y at the samples, for example from an adjoint solver or automatic
            differentiation. They are averaged over the labelled samples, and no process is fitted.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is outside its range, fewer than two samples are labelled, y is constant
            or infinite, all labelled samples are equal, `n_components` exceeds the number of
            identified directions, or `gradients` has the wrong shape or is not finite.
        """
        return self._fit(X, y, X_unlabeled, sample_weight, gradients=gradients)

    def _learn(self, data, gradients=None):
        Y = data.y if data.y.ndim == 2 else data.y[:, None]
        check_responses_vary(Y)
        frame = Frame.from_labelled(data.X_labeled, Y, data.weights)
        copies = np.ones(len(Y)) if data.weights is None else data.weights
        if gradients is None:
            slopes, n_points = self._slopes_of_processes(frame, data, Y, copies)
        else:
            G = self._check_gradients(gradients, data, Y.shape[1])
            slopes = G[:, :, data.columns.varying] * frame.scale / frame.y_scale[:, None]
            if not slopes.any():
                raise ValueError(
                    "gradients must not all be 0: some non-constant feature must affect y."
                )
            slopes, n_points = np.sqrt(copies)[:, None, None] * slopes, data.n_rows
        singular, directions = np.linalg.svd(np.concatenate(slopes), full_matrices=False)[1:]
        unit = frame.y_scale[0] if len(frame.y_scale) == 1 else 1 / np.sqrt(len(frame.y_scale))
        self._store_directions(frame, unit * singular / np.sqrt(n_points), directions)

    def _check_gradients(self, gradients, rows, q):
        """Validate observed gradients, and return the gradients of the labelled samples."""
        G = check_array(
            gradients, dtype=np.float64, allow_nd=True, ensure_2d=False, input_name="gradients"
        )
        n, d = len(rows.is_labeled), self.n_features_in_
        if G.shape != (n, q, d) and (q > 1 or G.shape != (n, d)):
            wanted = f"({n}, {d})" if q == 1 else f"({n}, {q}, {d})"
            raise ValueError(
                f"gradients must have shape {wanted}, got {G.shape}. Pass the gradient of y at "
                "each row of X."
            )
        return G.reshape(n, q, d)[rows.is_labeled]

    def _slopes_of_processes(self, frame, rows, Y, copies):
        """Fit a Gaussian process to each response, and return the gradients of its mean."""
        check_pairs_fit(type(self).__name__, len(Y))
        points = frame.standardise(np.vstack([rows.X_labeled, rows.X_unlabeled]))
        T = (Y - frame.y_mean) / frame.y_scale
        models = [self._fit_model(points[: len(T)], t, copies) for t in T.T]
        self._store_models(frame, rows.columns, models)
        slopes = np.stack([model.slopes(points, copies) for model in models])
        return slopes, rows.n_rows + len(rows.X_unlabeled)

    def _fit_model(self, U, t, copies):
        """Fit a Gaussian process repeatedly, each time along the directions found so far."""
        model = self._fit_gp(U, t, copies, np.empty((0, U.shape[1])))
        for _ in range(MAX_REFITS):
            singular, directions = np.linalg.svd(model.slopes(U, copies), full_matrices=False)[1:]
            leading = directions[: _n_leading(singular**2)]
            candidate = self._fit_gp(U, t, copies, leading)
            if candidate.charged_evidence <= model.charged_evidence:
                break
            model = candidate
        return model.polished()

    def _fit_gp(self, U, t, copies, learnt):
        learnt = learnt / np.sqrt(copies @ (U @ learnt.T) ** 2 / copies.sum())[:, None]
        inputs = np.hstack([U, U @ learnt.T])
        prior = sparse_prior(inputs.shape[1], UNIFORM_WIDTH).for_regression()
        data, theta = searched_process(inputs, t, prior, SEARCH_ROWS, copies)
        return _Model(data, learnt, theta, prior)

    def _store_directions(self, frame, singular, directions):
        rank = int(np.sum(singular > singular[0] * max(directions.shape) * np.finfo(float).eps))
        what = "directions in which the gradients differ from zero"
        check_identified(self.n_components, rank, what, ", fewer components, or more rows")
        self.mean_, self.eigenvalues_, r = frame.mean, singular**2, self.n_components
        self.n_components_ = _n_leading(self.eigenvalues_) if r == "auto" else int(r)
        self.components_ = frame.rows_in_features(directions[: self.n_components_])

    def _store_models(self, frame, features, models):
        """Store the fitted attributes that describe the Gaussian processes."""
        found = []
        for model, y_scale in zip(models, frame.y_scale, strict=True):
            signal, noise = np.exp(model.theta[[0, -1]]) * y_scale**2
            lengths = frame.scale * np.exp(model.theta[1 : 1 + frame.scale.size])
            evidence = model.evidence - model.data.n_rows * np.log(y_scale)
            lengths = features.expand(lengths, np.inf)
            found.append((lengths, float(signal), float(noise), evidence))
        every = found[0] if len(found) == 1 else map(np.array, zip(*found, strict=True))
        self.length_scale_, self.signal_variance_, self.noise_, evidence = every
        self.log_marginal_likelihood_ = evidence


@dataclass(frozen=True, eq=False)
class _Model:
    """Gaussian process on standardised features and on their scores along learnt directions."""

    data: Observations  # of (n, d + r) inputs
    learnt: np.ndarray  # (r, d)
    theta: np.ndarray
    prior: HyperparameterPrior

    def polished(self):
        """Return the model with hyperparameters optimised on a larger sample."""
        if self.data.n_rows <= SEARCH_ROWS:
            return self
        data = self.data.spread(POLISH_ROWS)
        end = climb(data.log_likelihood, self.prior, self.theta, POLISH_ITERATIONS)
        return replace(self, theta=end.x)

    @cached_property
    def process(self) -> GaussianProcess:
        """Gaussian process conditioned on all samples."""
        return self.data.condition(self.theta)

    @cached_property
    def evidence(self):
        """Log marginal likelihood of the Gaussian process, in nats."""
        return self.data.log_likelihood(self.theta)[0]

    @property
    def charged_evidence(self):
        """Log marginal likelihood with a BIC penalty for the r learnt directions."""
        r, d = self.learnt.shape
        return self.evidence - 0.5 * r * (d - r) * np.log(self.data.n_rows)

    def slopes(self, points, copies):
        """Return the gradient of the posterior mean at each sample.

        At labelled points, it is multiplied by the square root of the weight.
        """
        d = points.shape[1]
        by_input = self.process.mean_gradient(np.hstack([points, points @ self.learnt.T]))
        gradients = by_input[:, :d] + by_input[:, d:] @ self.learnt
        gradients[: copies.size] *= np.sqrt(copies)[:, None]
        return gradients


def _n_leading(eigenvalues):
    """Return the number of eigenvalues that maximises the ridge-type eigenvalue ratio.

    A zero is appended to the eigenvalues.
    """
    raised = np.append(eigenvalues, 0.0) + FLOOR * eigenvalues[0]
    return int(np.argmax(raised[:-1] / raised[1:])) + 1
