"""The names by which `minimize` knows the optimisers."""

from functools import partial
from types import MappingProxyType

from skbo_silbo.optimizers._baselines import BOCK, REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.optimizers._random_search import RandomSearch
from skbo_silbo.optimizers._si_bo import SIBO
from skbo_silbo.optimizers._silbo import SILBO
from skbo_silbo.optimizers._silbo_as_run import SILBOAsRun

# Chen et al. (2020), section 5.1, and Algorithms 1 to 4 as printed.
_paper = partial(
    SILBO,
    embedding="semi-sir-paper",
    acquisition="ucb",
    n_initial=50,
    n_unlabeled=50,
    update_every=20,
    design="random",
    search="random",
    warp=None,
)

METHODS = MappingProxyType(
    {
        "silbo": SILBO,
        "silbo-bu": partial(_paper, mapping="bottom-up"),
        "silbo-td": partial(_paper, mapping="top-down-cma"),
        "silbo-bu-as-run": SILBOAsRun,
        "silbo-td-as-run": partial(SILBOAsRun, mapping="top-down"),
        "rembo": REMBO,
        "rembo-kx": partial(REMBO, kernel="x"),
        "rembo-kpsi": partial(REMBO, kernel="psi"),
        "hesbo": HeSBO,
        "sir-bo": SIRBO,
        "si-bo": SIBO,
        "add-bo": AddBO,
        "bock": BOCK,
        "random": RandomSearch,
    }
)
