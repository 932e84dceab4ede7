"""Every experiment by its name."""

from types import MappingProxyType

from ._default import DEFAULT
from ._graphs import GRAPHS
from ._growth import GROWTH
from ._methods import METHODS_EXPERIMENT
from ._overhead import OVERHEAD
from ._paper import PAPER, PAPER_EMBEDDING
from ._sdr import SDR
from ._solvers import SOLVERS
from ._tuning import TUNING
from ._workers import WORKERS

EXPERIMENTS = MappingProxyType(
    {
        e.name: e
        for e in (
            SDR,
            GROWTH,
            SOLVERS,
            GRAPHS,
            OVERHEAD,
            METHODS_EXPERIMENT,
            DEFAULT,
            PAPER,
            PAPER_EMBEDDING,
            TUNING,
            WORKERS,
        )
    }
)
