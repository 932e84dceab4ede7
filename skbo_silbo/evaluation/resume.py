"""Read the evaluations of earlier runs from their log."""

import numpy as np

from skbo_silbo.evaluation.trial import Observation, Trial
from skbo_silbo.optimizers.event import UNREADABLE


def read_trials(log, evaluation, proposals, batch_size=None):
    """Restore the optimiser from the journal, and return the trials of earlier runs.

    Parameters
    ----------
    log : EventLog or NoLog
        Log of the run, whose method `begin` has been called.
    evaluation : Evaluation
    proposals : Proposals
        Source of the points to evaluate, whose optimiser is restored. Observations of an incomplete
        batch are not passed to the optimiser.
    batch_size : int or None, default=None

    Returns
    -------
    told : list of Trial
        Evaluations, and observations supplied by the user, in the order in which they were passed
        to the optimiser.
    held : list of Trial
        Evaluations of a batch that was interrupted. They are passed to the optimiser when the batch
        is complete.
    """
    trials = {
        i: _restored(log, event, evaluation)
        for i, event in enumerate(log.events)
        if event.kind == "observed"
    }
    evaluated = [i for i in trials if trials[i][0].is_evaluated]
    for number, i in enumerate(evaluated):
        trials[i][0].number = number
    # The evaluations of a batch may have ended in another order.
    evaluated.sort(key=lambda i: (trials[i][0].batch, trials[i][0].place))
    n_held = _size_of_open_batch([trials[i][0] for i in evaluated], proposals, batch_size)
    evaluated, held = evaluated[: len(evaluated) - n_held], evaluated[len(evaluated) - n_held :]
    order = np.delete(np.arange(len(log.events)), held)
    order[np.isin(order, evaluated)] = evaluated
    followed = [log.events[i] for i in order if log.events[i].is_of_optimizer]
    log.replay(proposals.optimizer, followed)
    told = [trial for i in order for trial in trials.get(i, ())]
    return told, [trials[i][0] for i in held]


def _restored(log, event, evaluation):
    """Return the trials whose observations a journal event records.

    This is a single evaluation, or all points whose values were supplied by the user.
    """
    content, observed, trials = event.content, event.observed, []
    is_evaluated = "batch" in content
    try:
        error = content.get("error")
        if not (error is None or isinstance(error, str)):
            raise TypeError(f"'error' must be text or null, got {error!r}")
        if is_evaluated:
            [_] = observed.points
        rows = evaluation.rows_from_record(content) if is_evaluated else None
        for i, point in enumerate(observed.points):
            known = {"constraints": observed.constraints[i], "goals": observed.goals[i]}
            known = {name: values for name, values in known.items() if values.size}
            trial = Trial(point, "resumed", is_evaluated=is_evaluated, event=content)
            trial.is_modelled = event.is_of_optimizer
            trial.observation = Observation(float(observed.y[i]), known, error, rows)
            if is_evaluated:
                trial.batch, trial.place = int(content["batch"]), int(content["place"])
            else:
                trial.source = "given"
            trials.append(trial)
    except UNREADABLE as raised:
        raise log.damaged(event.n, raised) from raised
    return trials


def _size_of_open_batch(trials, proposals, batch_size):
    """Return the number of evaluations in an incomplete last batch, otherwise 0.

    A batch is incomplete after an interruption or with a smaller budget. A smaller batch is
    complete if it ends with the initial points.
    """
    if batch_size is None or not trials or not trials[-1].event["in order"]:
        return 0
    last = [trial for trial in trials if trial.batch == trials[-1].batch]
    is_initial = [proposals.points.number(trial.point) > 0 for trial in trials]
    ends_initial = is_initial[-len(last)] and sum(is_initial) >= len(proposals.initial)
    return 0 if len(last) >= batch_size or ends_initial else len(last)
