"""Bayesian optimisation of all inputs, or in a learnt embedding."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike

import numpy as np

from skbo_silbo._checks import check_count, check_flag
from skbo_silbo._typing import (
    Auto,
    BoundsLike,
    Design,
    RandomState,
    RegressorLike,
    TransformerLike,
)
from skbo_silbo.acquisition import AcquisitionFunction, Search
from skbo_silbo.embedding import Learner
from skbo_silbo.embedding.choice import ALL_INPUTS, IdentityLearner, choose_embedding
from skbo_silbo.journal.log import open_log
from skbo_silbo.journal.state import describe_settings
from skbo_silbo.optimizers import configuration as parts
from skbo_silbo.optimizers._embedded import EmbeddedOptimizer
from skbo_silbo.optimizers.configuration import Configuration, check_n_initial
from skbo_silbo.space.any_space import as_space
from skbo_silbo.surrogate import Surrogate, Warp


@dataclass(eq=False, repr=False)
class SILBO(EmbeddedOptimizer):
    """Bayesian optimisation of expensive functions of many inputs.

    By default, the objective is modelled by a Gaussian process with one length scale per input, and
    a prior that assumes that few inputs matter. After a space-filling initial design, most
    proposals maximise the expected improvement. If the process explains little of the variance of
    the values, some proposals are drawn from a Parzen estimator instead.

    With `embedding`, a linear map ``z = x B`` is learnt before each proposal, from the observed
    points and from unlabelled points that the last search ranked highly. The process is then a
    function of z. The proposal is the point nearest to the incumbent among all points with the best
    z.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict, list of dicts or Space
        The search space: lower and upper bounds of each input, or named parameters. With a dict or
        `Space` of named parameters, points are dicts. With a list of dicts, each point has the
        parameters of one of the dicts, as in :class:`~skbo_silbo.SILBOSearchCV`.
    n_components : int or "auto", default="auto"
        Dimension r of a learnt embedding. With "auto", the method that learns the embedding chooses
        it.
    embedding : {"auto", "identity", "sparse", "active-subspace", "semi-sir", "semi-sir-local", \
            "semi-sir-paper", "sir"}, transformer or Learner, default="auto"
        Method that learns B:

        - "auto": "semi-sir" if `n_components` is an integer; otherwise "sparse", or "identity"
          below 5 columns.
        - "identity": all inputs are kept, with a prior that assumes that all inputs matter.
        - "sparse": all inputs are kept, with a prior that assumes that few inputs matter.
        - "active-subspace": the directions along which the mean of a Gaussian process is steepest.
        - "semi-sir": semi-supervised sliced inverse regression, with `alpha` chosen by
          cross-validation of one direction.
        - "semi-sir-local": as "semi-sir", but with localised slices. As in the paper, each sample
          has 7 neighbours, both within its slice and in the graph.
        - "semi-sir-paper": Algorithm 2 of the paper as printed.
        - "sir": sliced inverse regression, without unlabelled points.
        - A transformer with ``components_`` after ``fit(X, y)`` or ``fit(X, y, X_unlabeled)``.
        - A `skbo_silbo.embedding.Learner`.

        Transformers are tested on random data when the optimiser is created. If one cannot be
        fitted to the values so far, all inputs are kept and a warning is issued.
    acquisition : {"ei", "ucb"} or AcquisitionFunction, default="ei"
        The acquisition function. "ei" is the expected improvement, maximised on a log scale. "ucb"
        is the confidence bound with the schedule of Srinivas et al. (2010), Theorem 1. Learnt
        constraints require "ei" or a function with the attribute ``is_log = True``.
    n_initial : int or "auto", default="auto"
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed. "auto" is ``4 + 2 sqrt(m)`` for m columns, at most 11.
    n_unlabeled : int, default=50
        Maximum number of candidates that each search passes as unlabelled points to the next fit of
        the embedding.
    update_every : int, list of int or None, default=1
        Number of new values after which the embedding is learnt again. A list contains the total
        numbers of values at which it is learnt: with ``[20]``, it is learnt once, from 20 values.
        None means that the embedding is never updated.
    design : {"auto", "sobol", "random"}, default="auto"
        The initial design:

        - "auto": the centre of the bounds, followed by a scrambled Sobol sequence. With 100 or more
          columns, two points follow the centre: all inputs at a quarter of their range, and all at
          three quarters. The centre is left out if other points were observed or proposed before.
        - "sobol": a scrambled Sobol sequence.
        - "random": independent uniform points.
    search : {"auto", "climb", "parzen-turns", "random"} or Search, default="auto"
        Method that maximises the acquisition function:

        - "climb": gradient ascent, starting from the best of many random candidates.
        - "random": the best of random points of the box around the image of the embedding.
        - "parzen-turns": "climb", except that some proposals are drawn at random where good points
          are dense (Bergstra et al. 2011). The probability of a draw is half the share of variance
          that the leave-one-out predictions of the surrogate do not explain. It is 0 with
          constraints. With 25 or more columns, inputs are moved off their bounds if this hardly
          lowers the acquisition function.
        - "auto": "parzen-turns" if all inputs are kept, the acquisition function has ``is_log``
          and the surrogate has the method `unexplained_share`. Otherwise "climb".
    surrogate : {"auto", "gaussian-process", "sklearn"} or regressor, default="auto"
        The model of the objective as a function of z:

        - "auto", "gaussian-process": the Gaussian process of this library, with a Matern-5/2 kernel
          and priors that scale with r.
        - "sklearn": scikit-learn's `GaussianProcessRegressor` with a Matern-5/2 kernel, one length
          scale per coordinate and white noise, warm-started from the previous fit.
        - A regressor with ``predict(Z, return_std=True)``, such as `BayesianRidge`. It is cloned
          and fitted to standardised values. A kernel with one length scale per input requires
          ``embedding="identity"``. Pass the regressor again to `from_dict`.

        The library's Gaussian process has analytical gradients. For other surrogates, gradients are
        finite differences, which take 2 r predictions per step.
    warp : "half-log", None or Warp, default="half-log"
        Transformation of the values before the fits. "half-log" compresses distances above the
        median logarithmically; None uses the values unchanged.
    journal : str, path-like or None, default=None
        File in which every proposal and value is saved before `ask` and `tell` return. An optimiser
        created with the same arguments and journal resumes from the file, even after a crash. After
        resuming, evaluate the points in `pending_` and pass their values to `tell`, because `ask`
        proposes other points. An error is raised if the space, an option or the seed differs from
        the journal. Objects passed as options are compared by their pickled contents. Without
        `random_state`, the seed in the journal is used. Call `constrain` again after resuming.
    scale : "log", list of "log" and None, or None, default=None
        Scale on which inputs are searched if `bounds` is an array or `Bounds`: "log" for all
        inputs, or a list with "log" or None for each input. Points are in the original units.
    maximize : bool, default=False
        Whether to maximise the objective. `tell`, `func_vals_`, `best_y_` and `recommended_` keep
        the sign of the values; ``subspace_`` and ``input_model_`` describe the negated values.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all random numbers. On one machine, the same seed and observed values give the same
        points, bit for bit. Other machines may give other points, because their BLAS kernels round
        differently.

    Attributes
    ----------
    best_x_ : ndarray of shape (d,) or dict
        The feasible point with the lowest observed value (the highest with `maximize`). For noisy
        values, use ``recommended_``.
    best_y_ : float
        The value observed at `best_x_`.
    x_iters_ : ndarray of shape (n, d) or list of n dicts
        All observed points, in the order of ``tell``.
    func_vals_ : ndarray of shape (n,)
        The observed value of each point in `x_iters_`.
    constraints_ : ndarray of shape (n, m)
        Observed values of m constraints, with NaN for unknown values. m is 0 without constraints.
    feasible_ : ndarray of bool of shape (n,)
        Whether all constraints are known to hold at each point. True without constraints.
    pending_ : ndarray of shape (n, d) or list of n dicts
        Points proposed but neither observed nor cancelled, in the order of `ask`.
    input_model_ : InputModel
        Model of how the inputs affect the observed values, fitted on first access.
    embedding_ : LinearEmbedding
        The current embedding, which is the identity before the first model.
    n_initial_ : int
        Number of points to evaluate before the first model is fitted.
    subspace_ : LearntSubspace
        The inputs and directions that matter, with confidence intervals. It is computed on first
        access.
    space_ : Space or Box
        The search space that was created from `bounds`.

    Raises
    ------
    ValueError
        If the bounds or another argument are invalid.

    Notes
    -----
    The method extends Chen, Zhu, Yuan and Huang (2020), "Semi-supervised Embedding Learning for
    High-dimensional Bayesian Optimization", arXiv 2005.14601, Algorithms 1 and 4. It departs from
    the paper where benchmarks showed a gain (doc/search_log.rst): by default all inputs are kept,
    an embedding is learnt again at every step, and gradients maximise the acquisition function.

    Pending points enter the surrogate with their predicted values ("kriging believer"; Ginsbourger,
    Le Riche and Carraro 2010). Failed evaluations (NaN or infinite) enter with the worst observed
    value, and are unlabelled points for the embedding.

    Each observed constraint (``constraints`` of `tell`) is modelled by a Gaussian process on all
    columns. The log probability that all constraints hold is added to the log expected improvement
    on the best feasible point (Gelbart, Snoek and Adams 2014). Until a feasible point is known, the
    log probability alone is maximised. Constraints at pending points are assumed to be two standard
    deviations worse than predicted.

    Known noise (``noise_std`` of `tell`) is added to the noise that the Gaussian process estimates,
    and scaled by the slope of `warp` at the value. The warp, embedding and prior are chosen as if
    the noise were constant. Regressors do not support known noise.

    Examples
    --------
    >>> from skbo_silbo import SILBO
    >>> optimizer = SILBO([(-5, 10), (0, 15)], random_state=0)
    >>> for _ in range(20):
    ...     x = optimizer.ask()
    ...     _ = optimizer.tell(x, (x[0] - 1) ** 2 + (x[1] - 2) ** 2)
    >>> bool(optimizer.best_y_ < 0.1)
    True
    """

    bounds: BoundsLike
    _: KW_ONLY
    n_components: int | Auto = "auto"
    embedding: str | Learner | TransformerLike = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = "auto"
    n_unlabeled: int = 50
    update_every: int | Sequence[int] | None = 1
    design: str | Design = "auto"
    search: str | Search = "auto"
    surrogate: str | Surrogate | RegressorLike = "auto"
    warp: str | Warp | None = "half-log"
    journal: str | PathLike[str] | None = None
    scale: str | Sequence[str | None] | None = None
    maximize: bool = False
    random_state: RandomState = None

    def __post_init__(self):
        """Initialise the optimiser, and restore its state from the journal if there is one."""
        self.maximize = check_flag("maximize", self.maximize)
        space = self.bounds if self.scale is None else as_space(self.bounds, self.scale)
        if self.journal is None:
            super().__init__(space, self.random_state)
            return
        log = open_log(self.journal)
        try:
            super().__init__(space, log.seed(self.random_state))
            described = {"entry point": type(self).__name__, **describe_settings(self)}
            log.begin(described, self.space_, self.seed_, keeps_asked=True)
            log.replay(self, log.records)
        except BaseException:
            log.close()
            raise
        self._log = log

    def close_journal(self) -> None:
        """Close the journal file, so that later proposals and observations are not recorded."""
        with self._lock:
            log, self._log = self._log, None
            if log is not None:
                log.close()

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        n_unlabeled = check_count("n_unlabeled", self.n_unlabeled, least=0)
        learner = choose_embedding(self.embedding, self.n_components, d)
        acquisition = parts.make_acquisition(self.acquisition)
        surrogate = self._make_surrogate(learner)
        return Configuration(
            learner=learner,
            search=parts.make_search(self.search, learner, acquisition, surrogate),
            acquisition=acquisition,
            design=parts.make_design(self.design),
            covers_levels=True,
            surrogate=surrogate,
            n_initial=check_n_initial(self.n_initial, d),
            n_unlabeled=n_unlabeled,
            update_every=parts.check_schedule(self.update_every),
            warp=parts.make_warp(self.warp),
        )

    def _make_surrogate(self, learner):
        """Create the surrogate, with a prior that suits the embedding."""
        asked = isinstance(self.embedding, str) and self.embedding == "sparse"
        is_process = isinstance(self.surrogate, str) and self.surrogate != "sklearn"
        if not isinstance(learner, IdentityLearner) or not (is_process or asked):
            return parts.make_surrogate(self.surrogate, None)
        prior = ALL_INPUTS.get(learner.name)
        return parts.make_surrogate(self.surrogate, prior, shared_lengths(self.space_))


def shared_lengths(space):
    """Return, for each column, the index of the length scale that it uses.

    The columns of a categorical parameter share one. None means one length scale per column.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> from skbo_silbo.optimizers._silbo import shared_lengths
    >>> shared_lengths(Space({"a": [1, 2], "b": ["p", "q", "r"], "c": [1, 2]}))
    [0, 1, 1, 1, 2]
    """
    first = np.arange(space.n_features_)
    for category in space.categories():
        first[category.columns] = category.columns[0]
    distinct, lengths = np.unique(first, return_inverse=True)
    return lengths.tolist() if distinct.size < first.size else None
