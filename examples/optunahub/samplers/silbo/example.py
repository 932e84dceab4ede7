"""Minimise a function of 20 parameters, two of which matter.

From a checkout, run ``python examples/optunahub/samplers/silbo/example.py``.
"""

from pathlib import Path

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    """Return the squared distance from the optimum of two parameters."""
    values = [trial.suggest_float(f"x{i}", -1, 1) for i in range(20)]
    return (values[0] - 0.3) ** 2 + (values[2] + 0.2) ** 2


module = optunahub.load_local_module(
    package="samplers/silbo", registry_root=str(Path(__file__).parents[2])
)
study = optuna.create_study(sampler=module.SILBOSampler(seed=0))
study.optimize(objective, n_trials=40)
print(study.best_value)
