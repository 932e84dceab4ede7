"""What the trials of an Optuna study say: points, values to be minimised, points under way."""

import json
import math
from dataclasses import dataclass

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
    told : dict of int to (params, value, constraints)
        By number of the trial; it need not have all parameters. The value is NaN for a failed one,
        a constraint, of a tuple of as many for every trial, where the trial has none of that name.
    n_complete : int
        How many of those are complete.
    pending : list of params
        Of the other running trials, as far as they are known.
    n_hidden : int
        How many trials began to run before this one and have not shown their parameters.
    """

    told: dict
    n_complete: int
    pending: list
    n_hidden: int


def common_space(study):
    """Return the distribution of every parameter that a complete trial has had, by name.

    Of parameters that have had several, the latest. A parameter with one value only is left out.
    """
    space = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        space |= trial.distributions
    return {name: space[name] for name in sorted(space) if not space[name].single()}


def see_trials(study, number, distributions):
    """Return what the other trials of a study say of parameters with these distributions."""
    trials = [t for t in study.get_trials(deepcopy=False) if t.number != number]
    running = {t.number: t for t in trials if t.state == TrialState.RUNNING}
    shown = {n: _inside(_proposed(t) | t.params, distributions) for n, t in running.items()}
    ended = {
        t.number: t for t in trials if t.state.is_finished() and _inside(t.params, distributions)
    }
    constraints = {n: constraints_of(t) for n, t in ended.items()}
    names = sorted(set().union(*constraints.values()))
    told = {
        n: (
            _inside(t.params, distributions),
            modelled_value(study, t),
            tuple(constraints[n].get(name, math.nan) for name in names),
        )
        for n, t in ended.items()
    }
    return TrialsSeen(
        told=told,
        n_complete=sum(t.state == TrialState.COMPLETE for t in ended.values()),
        pending=[params for params in shown.values() if params],
        n_hidden=sum(n < number and not _proposed(t) | t.params for n, t in running.items()),
    )


def _inside(params, distributions):
    """Return those parameters that have a distribution; none if one has a value outside it."""
    params = {name: params[name] for name in distributions if name in params}
    return params if all(_contains(distributions[k], v) for k, v in params.items()) else {}


def _contains(distribution, value):
    try:
        return distribution._contains(distribution.to_internal_repr(value))
    except (TypeError, ValueError):  # of another type, or none of the choices
        return False


def keep_proposed(study, trial, params):
    """Let other processes see what is proposed for a trial before it is suggested."""
    text = json.dumps(params)
    for i in range(0, len(text), LONGEST):
        keep_attribute(study, trial, f"{PROPOSED}:{i // LONGEST}", text[i : i + LONGEST])


def is_proposed_elsewhere(study, number, params):
    """Return whether another trial has these parameters, or is about to have them."""
    others = (t for t in study.get_trials(deepcopy=False) if t.number != number)
    return any(params == _among(_proposed(t) | t.params, params) for t in others)


def _among(known, names):
    return {name: known[name] for name in names if name in known}


def _proposed(trial):
    text, i = "", 0
    while part := trial.system_attrs.get(f"{PROPOSED}:{i}"):
        text, i = text + part, i + 1
    return json.loads(text) if text else {}


def keep_attribute(study, trial, key, value):
    """Write an attribute of a running trial; Optuna has no public way for a sampler to do so."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def modelled_value(study, trial):
    """Return the value of an ended trial, to be minimised.

    A complete trial has its value, with a minus sign if the study maximises. A pruned one has its
    last intermediate value. A failed one has NaN.
    """
    return -_value(trial) if study.direction == StudyDirection.MAXIMIZE else _value(trial)


def constraints_of(trial):
    """Return a trial's values of constraints by name: at most 0 where they hold."""
    attributes = trial.system_attrs
    unnamed = enumerate(attributes.get(CONSTRAINTS) or ())
    named = {k: v for k, v in attributes.items() if k.startswith(f"{CONSTRAINTS}:")}
    return {f"{CONSTRAINTS}[{i}]": float(v) for i, v in unnamed} | named


def _value(trial):
    if trial.state == TrialState.COMPLETE:
        return trial.value
    reported = trial.intermediate_values
    if trial.state == TrialState.PRUNED and reported:
        return reported[max(reported)]
    return math.nan
