"""SILBO: Bayesian optimisation over all inputs, or in an embedding learnt from the values."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike

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
from skbo_silbo.embedding._choice import ALL_INPUTS, IdentityLearner, choose_embedding
from skbo_silbo.optimizers import _configuration as parts
from skbo_silbo.optimizers._configuration import Configuration, check_n_initial
from skbo_silbo.optimizers._embedded import EmbeddedOptimizer
from skbo_silbo.optimizers._journaled import Journaled
from skbo_silbo.optimizers._log import open_log
from skbo_silbo.space._read import as_space
from skbo_silbo.surrogate import Surrogate, Warp


@dataclass(eq=False, repr=False)
class SILBO(Journaled, EmbeddedOptimizer):
    """Bayesian optimisation of expensive functions of many inputs.

    By default all inputs are kept, in a Gaussian process with a length scale for each input, whose
    prior says that few inputs matter. After a space-filling design a proposal maximises the
    expected improvement, or is drawn by a Parzen estimator where the process explains little.

    With `embedding` a linear map ``z = x B`` is learnt before each proposal. It is learnt from the
    observed points and, without values, from those that the last search ranked next. The process is
    fitted in z, and of the points of the best z the one nearest the best point known is proposed.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict, list of dicts or Space
        Where to search. With named parameters, a dict or `Space` as it says, points are dicts. With
        a list of dicts a point has the parameters of one of them, as in
        :class:`~skbo_silbo.SILBOSearchCV`.
    n_components : int or "auto", default="auto"
        Coordinates r of a learnt embedding; "auto" leaves it to the learner.
    embedding : {"auto", "identity", "sparse", "active-subspace", "semi-sir", "semi-sir-local", \
            "semi-sir-paper", "sir"}, transformer or Learner, default="auto"
        How B is learnt. "identity" and "sparse" keep all inputs, with a prior that all matter or
        that few do. "auto" is "sparse", below 5 columns "identity", and with an integer
        `n_components` "semi-sir", whose `alpha` is chosen by cross-validation
        of one direction.
        "active-subspace" takes the directions in which a Gaussian process is steepest.
        "semi-sir-local" has the paper's k = 7 neighbours in slices and graph, "semi-sir-paper" is
        its Algorithm 2 as printed, "sir" has no unlabelled part. A transformer needs ``fit(X, y)``
        (or ``fit(X, y, X_unlabeled)``) and ``components_``; or ``transform`` and
        ``inverse_transform``, as `KernelPCA` (with ``fit_inverse_transform=True``), a Pipeline or
        an autoencoder have them: then z is searched
        in the box around the image of the observed points and the unlabelled ones. Then x is the
        inverse, clipped. A trial fit to random numbers, when the optimiser is made, refuses others.
        While it refuses the values so far all inputs are kept, with a warning.
        A `skbo_silbo.embedding.Learner` of your own will do too.
    acquisition : {"ei", "ucb"} or AcquisitionFunction, default="ei"
        Expected improvement, in logarithmic form inside; or the confidence bound with the schedule
        of Srinivas et al. (2010), Theorem 1; or a function of your own. Learnt constraints need
        one that declares ``is_log = True``.
    n_initial : int or "auto", default="auto"
        Points before the first model, observed ones too. "auto": ``4 + 2 sqrt(m)`` for m columns,
        at most 11.
    n_unlabeled : int, default=50
        Points kept from every search, at most, as the unlabelled part of the next fit.
    update_every : int, list of int or None, default=1
        The embedding is learnt again when so many new values are observed; a list: when there are
        so many values in all (``[20]``: once more, from 20 values); None: never again.
    design : {"auto", "sobol", "random"}, default="auto"
        The first points: a scrambled Sobol sequence ("auto") or independent uniform points.
    search : {"auto", "climb", "parzen-turns", "random"} or Search, default="auto"
        How the acquisition is maximised: by gradients over the cube, from the best of random
        candidates ("climb"), or over random points of the box around its image ("random").
        "parzen-turns" is "climb" in most turns, from 25 columns on with inputs off their bounds
        where that costs next to nothing. In the others each input is drawn from where good
        points lie (Bergstra et al. 2011). Their probability is half of the share of the values that
        the model cannot predict when each is left out, and 0 where constraints are observed. "auto"
        is "parzen-turns" if all inputs are kept, the acquisition function declares that it is a
        logarithm, as expected improvement does, and the surrogate has `unexplained_share`, as the
        Gaussian process has it. Otherwise it is "climb".
    surrogate : {"auto", "gaussian-process", "sklearn"} or regressor, default="auto"
        The model of the values, on z. "gaussian-process" ("auto") is this library's own:
        Matern-5/2, priors that scale with r, warm starts and gradients. "sklearn" is scikit-learn's
        `GaussianProcessRegressor`: Matern-5/2 with a length scale for each coordinate, white
        noise, standardised values, hyperparameters warm-started from the fit before. Any other
        regressor of scikit-learn needs ``predict(Z, return_std=True)``, as `BayesianRidge` has it;
        it is cloned, and fitted to standardised values after every `tell`. The acquisition of all
        these is climbed by finite differences (2 r predictions a step). A kernel of your own with
        a length scale for every input needs ``embedding="identity"``. `from_dict` has to be given
        a regressor again.
    warp : "half-log", None or Warp, default="half-log"
        How values are seen by learner and surrogate. "half-log" compresses distances above the
        median to their logarithm; None changes nothing.
    journal : str, path-like or None, default=None
        A file in which every point asked for and every observed value is on disk before `ask` and
        `tell` return. A new optimiser with the same arguments and journal goes on from there, after
        a crash too. Evaluate `pending_` first and tell its values: `ask` gives other points. A
        journal of another space, option (objects are told apart by what a pickle of them holds) or
        seed is refused, the difference named; without `random_state` its seed is taken over.
        `constrain` is to be called again.
    scale : "log", list of "log" and None, or None, default=None
        With an array or `Bounds`: the inputs that are searched by their logarithm, all or those so
        named in a list of d. Points are arrays in the inputs' own units all the same.
    maximize : bool, default=False
        Whether high values are better. `tell`, `func_vals_`, `best_y_` and `recommended_` keep the
        sign of the values; `subspace_` and `input_model_` are of them with a minus sign.
    random_state : int, RandomState, Generator or None, default=None
        Seed. On one machine, the same seed and observed values give the same points, bit for
        bit. Other machines may give other points, because their BLAS kernels round differently.

    Attributes
    ----------
    best_x_ : ndarray of shape (d,) or dict
        The feasible point with the lowest observed value (with `maximize` the highest). Where
        values are noisy, ``recommended_`` has the point to use, its mean and its std.
    best_y_ : float
        That value.
    x_iters_ : ndarray of shape (n, d) or list of n dicts
        All observed points.
    func_vals_ : ndarray of shape (n,)
        All observed values.
    constraints_ : ndarray of shape (n, m)
        All observed constraints, NaN where not known; m is 0 without any.
    feasible_ : ndarray of bool of shape (n,)
        Whether all constraints are known and at most 0; True without any.
    pending_ : ndarray of shape (n, d) or list of n dicts
        The points asked for, not observed or cancelled, in the order asked.
    input_model_ : InputModel
        What the observed values say of the inputs; made when read.
    embedding_ : LinearEmbedding
        The embedding in use; the identity before the first model.
    n_initial_ : int
        How many points come before the first model.
    subspace_ : LearntSubspace
        Which inputs and directions matter, by parameter name, with intervals; made when read.
    space_ : Space or Box
        The search space.

    Raises
    ------
    ValueError
        When the bounds or another argument are invalid.

    Notes
    -----
    Chen, Zhu, Yuan and Huang (2020), "Semi-supervised Embedding Learning for High-dimensional
    Bayesian Optimization", arXiv 2005.14601, Algorithms 1 and 4. It departs from the paper where
    measurement said so (doc/search_log.rst): by default all inputs are kept, under a prior that few
    matter; an embedding is learnt again at every step, and the acquisition is climbed by gradients.

    Pending points (asked for, not observed) take part with the value that the surrogate predicts
    ("kriging believer"; Ginsbourger, Le Riche and Carraro 2010). A failed evaluation (NaN or
    infinite) takes part with the worst observed value, and is unlabelled for the embedding.

    Observed constraints (``constraints`` of `tell`) are learnt by a Gaussian process each, on all
    columns of the cube, and the log probability that all hold is added to the log expected
    improvement on the best feasible point (Gelbart, Snoek and Adams 2014); pending points are
    taken to be two standard deviations worse than predicted. Until a feasible point is known that
    probability alone is sought.

    Noise given with a value (``noise_std`` of `tell`) is noise of that value alone, on top of what
    the Gaussian process finds in all; it is multiplied by the slope of `warp` at the value. The
    choices of scale, embedding and prior take noise as equal everywhere. A regressor as `surrogate`
    refuses it, as `AddBO` and `BOCK` do, whose processes have one noise for all values.

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
        """Make the optimiser, or go on with that of the journal."""
        self.maximize = check_flag("maximize", self.maximize)
        space = self.bounds if self.scale is None else as_space(self.bounds, self.scale)
        if self.journal is None:
            super().__init__(space, self.random_state)
            return
        log = open_log(self.journal)
        try:
            super().__init__(space, log.seed(self.random_state))
            self._resume(log)
        except BaseException:
            log.close()
            raise

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
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
        """Return the surrogate; the prior that "auto" stands for is that of the process alone."""
        asked = isinstance(self.embedding, str) and self.embedding == "sparse"
        is_process = isinstance(self.surrogate, str) and self.surrogate != "sklearn"
        keeps_all = isinstance(learner, IdentityLearner) and (is_process or asked)
        if not keeps_all:
            return parts.make_surrogate(self.surrogate, None)
        shared = shared_lengths(self.space_)
        return parts.make_surrogate(self.surrogate, ALL_INPUTS.get(learner.name), shared)


def shared_lengths(space):
    """Return which length scale each column has: one for a category; None if all have their own.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> from skbo_silbo.optimizers._silbo import shared_lengths
    >>> shared_lengths(Space({"a": [1, 2], "b": ["p", "q", "r"], "c": [1, 2]}))
    [0, 1, 1, 1, 2]
    """
    first = list(range(space.n_features_))
    for category in space.categories():
        for column in category.columns:
            first[column] = category.columns[0]
    lengths = sorted(set(first))
    return [lengths.index(j) for j in first] if len(lengths) < len(first) else None
