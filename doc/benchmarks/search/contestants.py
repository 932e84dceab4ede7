"""Who takes part in the experiments about optimisers, by name."""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from types import MappingProxyType

import numpy as np

from benchmarks.engine import Table
from benchmarks.engine.baselines import (
    BASELINES,
    HeSBOAsRun,
    LabelledBottomUpAsRun,
    REMBOAsRun,
    SIRBOAsRun,
)
from skbo_silbo.embedding.learners import SemiSIRLearner
from skbo_silbo.minimization import minimize

from . import peers, process_peers

OWN, ANY, SCALED = (
    "its own rule",
    "any rising scale gives the same points",
    "Yeo-Johnson, fitted anew at every evaluation",
)
# the paper's pencil solved exactly, on which unlabelled points can act
LOCAL = MappingProxyType(
    {"alpha": 1.0, "n_local_neighbors": 3, "n_neighbors": 7, "random_state": 0}
)


@dataclass(frozen=True)
class Contestant:
    """An optimiser with its settings.

    Attributes
    ----------
    run : callable
        (recorder, problem as data, seed): calls the recorder ``problem["n"]`` times.
    package : str
        Distribution that must be installed; "" for this library.
    values : str
        The scale on which it sees the values.
    settings : str
        What a reader has to know beside its name.
    """

    run: Callable
    package: str = ""
    values: str = OWN
    settings: str = "defaults"


@dataclass(frozen=True)
class OwnMethod:
    """A method of this library.

    Attributes
    ----------
    method : str or class
        Its name in `minimize`, or what `minimize` takes in place of one.
    options : dict
    as_published : bool
        Whether the embedding has as many directions as are active: ``problem["r"]``, or else
        ``problem["inputs"]``.
    pencil : dict or None
        Arguments of `SemiSlicedInverseRegression`, when the embedding is learnt by that.
    """

    method: str | type
    options: Mapping = field(default_factory=dict)
    as_published: bool = False
    pencil: Mapping | None = None

    def __call__(self, recorder, problem, seed):
        """Minimise."""
        options = dict(self.options)
        if self.pencil is not None:
            options["embedding"] = SemiSIRLearner("semi-sir", problem["r"], self.pencil)
        elif self.as_published:
            options["n_components"] = problem.get("r") or problem["inputs"]
        minimize(
            recorder,
            recorder.problem.bounds,
            method=BASELINES.get(self.method, self.method),
            n_calls=problem["n"],
            random_state=seed,
            **options,
        )


def run_peer(make, recorder, bounds, n, seed):
    """Minimise a recorded objective with n evaluations of another library's optimiser."""
    lower, upper = np.asarray(bounds, dtype=float).T
    peer = make(len(lower), seed)
    for _ in range(n):
        u = peer.ask()
        peer.tell(u, recorder(np.clip(lower + u * (upper - lower), lower, upper)))


def _run_torch_peer(name, recorder, problem, seed):
    """Run a class of `torch_peers`, which is imported late."""
    make = getattr(import_module(".torch_peers", __package__), name)
    run_peer(make, recorder, recorder.problem.bounds, problem["n"], seed)


def _run_peer(make, recorder, problem, seed):
    run_peer(make, recorder, recorder.problem.bounds, problem["n"], seed)


def _peer(name, package, settings="defaults"):
    return Contestant(partial(_run_peer, getattr(peers, name)), package, ANY, settings)


def _process_peer(name, package, settings):
    run = partial(_run_peer, getattr(process_peers, name))
    return Contestant(run, package, SCALED, settings)


def _torch_peer(name, settings, package="botorch"):
    return Contestant(partial(_run_torch_peer, name), package, SCALED, settings)


def _ours(method, *, as_published=True, words="", pencil=None, **options):
    """Return a method of this library; its settings are those words and the options."""
    settings = [
        *(["r of the problem"] if as_published else []),
        *([words] if words else []),
        *(f"{name}={value}" for name, value in options.items()),
    ]
    run = OwnMethod(method, options, as_published, pencil)
    return Contestant(run, settings=", ".join(settings) or "defaults")


_paper = partial(_ours, n_initial=50)  # random points first, in the paper's experiments
_exact = partial(
    _paper, words="eigenvalue problem solved exactly, alpha = 1", pencil={"alpha": 1.0}
)
_local = partial(
    _ours,
    "silbo-bu",
    words="the paper's eigenvalue problem solved exactly, alpha = 1, k = 3 in slices of 5",
    pencil=LOCAL,
)
_strategy_as_run = partial(_ours, words="the authors' code: H = r + 1, k = 3, the 50 best labels")

OF_THE_PAPER = (
    *("silbo-bu", "silbo-td", "rembo", "rembo-kx", "rembo-kpsi", "rembo-zonotope", "hesbo"),
    *("sir-bo", "si-bo", "ksir-bo"),
)
# the ablations of the paper, bottom-up, UCB
VARIANTS = MappingProxyType(
    {
        "silbo-bu-labelled": _paper("silbo-bu", n_unlabeled=0),
        "silbo-bu-every-10": _paper("silbo-bu", update_every=10),
        "silbo-bu-every-40": _paper("silbo-bu", update_every=40),
        "silbo-bu-random-20": _ours("silbo-bu", n_initial=20, update_every=None),
        "silbo-bu-10-and-10": _ours("silbo-bu", n_initial=10, update_every=[20]),
        "silbo-bu-local": _local(),
        "silbo-bu-local-labelled": _local(n_unlabeled=0),
        "silbo-bu-semi-sir": _exact("silbo-bu"),
        "silbo-bu-semi-sir-labelled": _exact("silbo-bu", n_unlabeled=0),
    }
)

CONTESTANTS = MappingProxyType(
    {
        "random": replace(_ours("random", as_published=False), values=ANY),
        "sobol": _peer("Sobol", ""),
        "silbo": _ours("silbo", as_published=False),
        **{name: _paper(name) for name in OF_THE_PAPER},
        "silbo-bu-ei": _paper("silbo-bu", acquisition="ei"),
        "silbo-td-ei": _paper("silbo-td", acquisition="ei"),
        "silbo-bu-as-run": _strategy_as_run("silbo-bu-as-run"),
        "silbo-bu-as-run-labelled": _strategy_as_run(LabelledBottomUpAsRun),
        "silbo-td-as-run": _strategy_as_run("silbo-td-as-run"),
        "rembo-as-run": _paper(REMBOAsRun, words="the authors' code: EI, 2000 random candidates"),
        "hesbo-as-run": _paper(HeSBOAsRun, words="the authors' code: EI, 2000 random candidates"),
        "sir-bo-as-run": _paper(
            SIRBOAsRun,
            words="the authors' code: H = r + 1, two generations of CMA-ES to the lowest bound",
        ),
        "add-bo": _paper("add-bo", as_published=False, words="groups of 4"),
        "bock": _ours("bock", as_published=False),
        **VARIANTS,
        "cma": _peer("CMAES", "cma", "random start, sigma 0.25"),
        "optuna-tpe": _peer("OptunaTPE", "optuna"),
        "optuna-tpe-from-middle": _peer("OptunaTPEFromMiddle", "optuna", "middle first"),
        "optuna-gp": _process_peer("OptunaGP", "torch", "defaults, through Optuna's ask and tell"),
        "scikit-optimize": _process_peer(
            "ScikitOptimize", "scikit-optimize", "defaults of Optimizer"
        ),
        "botorch-gp": _torch_peer(
            "BoTorchGP",
            "SingleTaskGP, log EI, 10 Sobol points, 2 local searches from 128 raw samples",
        ),
        "botorch-gp-longer": _torch_peer(
            "BoTorchGPLonger", "as botorch-gp, with 20 local searches from 1024 raw samples"
        ),
        "saasbo": _torch_peer(
            "SAASBO",
            "BoTorch's fully Bayesian SAAS, NUTS of 128 + 128 steps in single precision at "
            "every fifth evaluation, otherwise as botorch-gp",
            "numpyro",
        ),
        "turbo": _torch_peer("TuRBO", "TuRBO-1, 10 Sobol points, 2000 candidates"),
    }
)


def find_contestant(name):
    """Return a contestant by its name.

    Parameters
    ----------
    name : str
        A key of `CONTESTANTS`, or ``method:option=value,option=value``: a variant of a method of
        this library, values being JSON or else strings; ``n_components=known`` is what the problem
        has.

    Returns
    -------
    contestant : Contestant

    Raises
    ------
    ValueError
        When there is none of that name.

    Examples
    --------
    >>> variant = find_contestant("silbo:embedding=identity,n_initial=8")
    >>> variant.run.method, variant.run.options
    ('silbo', {'embedding': 'identity', 'n_initial': 8})
    """
    if name in CONTESTANTS:
        return CONTESTANTS[name]
    method, colon, options = name.partition(":")
    pairs = [pair.partition("=") for pair in options.split(",")]
    base = CONTESTANTS.get(method)
    if not (colon and base and isinstance(base.run, OwnMethod) and all(p[1] for p in pairs)):
        raise ValueError(
            f"method must be one of {', '.join(CONTESTANTS)}, or a variant of one of ours, "
            f"METHOD:OPTION=VALUE,...: got {name!r}. Correct the name."
        )
    options = {**base.run.options, **{option: _value(text) for option, _, text in pairs}}
    known = options.get("n_components") == "known"
    if known:
        del options["n_components"]
    as_published = base.run.as_published or known
    return replace(base, run=replace(base.run, options=options, as_published=as_published))


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def is_ours(name):
    """Whether a method, or what it is a variant of, is of this library and not random search."""
    known = CONTESTANTS.get(name.partition(":")[0])
    return known is not None and isinstance(known.run, OwnMethod) and known.run.method != "random"


def packages(names):
    """Return the distribution that each contestant needs, {name: distribution}."""
    return {name: find_contestant(name).package for name in names}


def with_variants(experiment, names):
    """Return the experiment with the variants of our methods that a command names.

    They run wherever the method runs that they vary.

    Parameters
    ----------
    experiment : Experiment
    names : sequence of str

    Raises
    ------
    ValueError
        When a name is not that of a variant.
    """
    grids = {
        profile: tuple(_with_names(grid, names) for grid in experiment.grids_of(profile))
        for profile in experiment.grids
    }
    return replace(experiment, methods={**experiment.methods, **packages(names)}, grids=grids)


def _with_names(grid, names):
    if grid.methods is None:
        return grid
    added = [name for name in names if name.partition(":")[0] in grid.methods]
    return replace(grid, methods=(*grid.methods, *added))


def variant_options(results):
    """Return the options that name the variants among the results."""
    names = dict.fromkeys(r["method"] for r in results if ":" in r["method"])
    return f" --variant {' '.join(map(shlex.quote, names))}" if names else ""


def settings_table(results):
    """Return the `Table` of methods, with the transformation of the values that was used."""
    seen = {r["method"]: r["values"] for r in results if r["status"] == "ok"}
    order = {name: place for place, name in enumerate(CONTESTANTS)}
    rows = [
        (name, who.package or "skbo_silbo", who.settings, seen[name])
        for name in sorted(seen, key=lambda name: order.get(name, len(order)))
        for who in [find_contestant(name)]
    ]
    return Table("Methods", ("method", "package", "settings", "transformation of the values"), rows)
