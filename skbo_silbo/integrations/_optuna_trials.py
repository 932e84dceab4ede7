"""What the trials of an Optuna study say: points, values to be minimised, points under way."""

import json
import math
from dataclasses import dataclass

import numpy as np
from optuna.study import StudyDirection
from optuna.trial import TrialState

PROPOSED = "silbo:params"  # attribute of a trial: what was proposed before it was suggested
CONSTRAINTS = "constraints"  # attribute that Optuna's own samplers keep and read
LONGEST = 2045  # characters that every storage takes in one attribute


@dataclass(frozen=True)
class TrialsSeen:
    """What is known of a study when a trial is to be proposed.

    Attributes
    ----------
    told : dict of int to (params, value)
        By number of the trial. NaN for a failed one.
    n_complete : int
        How many of those are complete.
    pending : list of params
        Of the other running trials.
    n_hidden : int
        How many trials began to run before this one and have not shown their parameters.
    """

    told: dict
    n_complete: int
    pending: list
    n_hidden: int


def see_trials(study, number, distributions):
    """Return what the other trials of a study say of parameters with these distributions."""
    trials = [t for t in study.get_trials(deepcopy=False) if t.number != number]
    running = [t for t in trials if t.state == TrialState.RUNNING]
    shown = [(t.number, proposed_params(t, distributions)) for t in running]
    ended = {
        t.number: t
        for t in trials
        if t.state in (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
        and has_params(t, distributions)
    }
    values = modelled_values(study, ended)
    return TrialsSeen(
        told={n: (t.params, values[n]) for n, t in ended.items()},
        n_complete=sum(t.state == TrialState.COMPLETE for t in ended.values()),
        pending=[params for _, params in shown if params is not None],
        n_hidden=sum(params is None and n < number for n, params in shown),
    )


def has_params(trial, distributions):
    """Return whether a trial has all these parameters, each with the same distribution."""
    return all(trial.distributions.get(name) == d for name, d in distributions.items())


def keep_proposed(study, trial, params, distributions):
    """Let other processes see what is proposed for a trial before it is suggested."""
    internal = {name: distributions[name].to_internal_repr(v) for name, v in params.items()}
    text = json.dumps(internal)
    for i in range(0, len(text), LONGEST):
        keep_attribute(study, trial, f"{PROPOSED}:{i // LONGEST}", text[i : i + LONGEST])


def proposed_params(trial, distributions):
    """Return the parameters that a running trial has, or is going to have; None if unknown."""
    if has_params(trial, distributions):
        return trial.params
    text, i = "", 0
    while part := trial.system_attrs.get(f"{PROPOSED}:{i}"):
        text, i = text + part, i + 1
    proposed = json.loads(text) if text else {}
    if not distributions.keys() <= proposed.keys():
        return None
    try:
        return {name: d.to_external_repr(proposed[name]) for name, d in distributions.items()}
    except IndexError:  # of a choice: it was proposed for another distribution of the same name
        return None


def keep_attribute(study, trial, key, value):
    """Write an attribute of a running trial; Optuna has no public way for a sampler to do so."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def modelled_values(study, trials):
    """Return values to be minimised, by number of the trial.

    A complete trial has its value, with a minus sign if the study maximises. A pruned one has its
    last intermediate value. A failed one has NaN. One that violates constraints is worse than every
    feasible one, and the worse the more it violates them (Deb 2000, "An efficient constraint
    handling method for genetic algorithms", equation 6).
    """
    sign = -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0
    values = {number: sign * _value(trial) for number, trial in trials.items()}
    violations = {n: violation(t) for n, t in trials.items() if not math.isnan(values[n])}
    violated = {number: v for number, v in violations.items() if v > 0.0}
    if not violated:
        return values
    feasible = [values[n] for n in violations if n not in violated and math.isfinite(values[n])]
    worst, spread = (max(feasible), np.ptp(feasible)) if feasible else (0.0, 0.0)
    unit = (spread or 1.0) / max(v for v in violated.values())
    return {**values, **{number: worst + unit * v for number, v in violated.items()}}


def violation(trial):
    """Return the sum of a trial's constraint values above 0: 0 for a feasible trial."""
    attributes = trial.system_attrs
    values = list(attributes.get(CONSTRAINTS) or ())
    values += [v for key, v in attributes.items() if key.startswith(f"{CONSTRAINTS}:")]
    return float(sum(max(value, 0.0) for value in values))


def _value(trial):
    if trial.state == TrialState.COMPLETE:
        return trial.value
    reported = trial.intermediate_values
    if trial.state == TrialState.PRUNED and reported:
        return reported[max(reported)]
    return math.nan
