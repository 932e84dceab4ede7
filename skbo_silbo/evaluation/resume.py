"""Read the evaluations of earlier runs from their log."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from skbo_silbo._typing import Damaged, Rows
from skbo_silbo.evaluation.trial import Evaluation, Observation, Trial
from skbo_silbo.journal.records import UNREADABLE, Record

INITIAL = ("given", "known")  # sources of initial points


def read_trials(
    log: Any, evaluation: Evaluation, proposals: Any, batch_size: int | None = None
) -> tuple[list[Trial], list[Trial]]:
    """Restore the optimiser from the journal, and return the trials of earlier runs.

    Parameters
    ----------
    log : EventLog or NoLog
        Log of the run, after a call of its method `begin`.
    evaluation : Evaluation
    proposals : Proposals
        Source of the points to evaluate, whose optimiser is restored. Observations of an incomplete
        batch are not passed to the optimiser.
    batch_size : int or None, default=None

    Returns
    -------
    trials : list of Trial
        Evaluations, and observations supplied by the user, in the order in which they were passed
        to the optimiser.
    open_batch : list of Trial
        Evaluations of a batch that was interrupted. They are passed to the optimiser when the batch
        is complete.
    """
    records = in_batch_order(log.records)
    evaluated = [record for record in records if record.evaluated]
    n_open = _size_of_open_batch(evaluated, len(proposals.initial), batch_size)
    kept = evaluated[len(evaluated) - n_open :]
    passed_on = [record for record in records if record not in kept]
    log.replay(proposals.optimizer, [record for record in passed_on if record.is_of_optimizer])
    trials, open_batch = (
        restore_trials(part, evaluation.rows_from_record, log.damaged) for part in (passed_on, kept)
    )
    for trial in (*trials, *open_batch):
        trial.is_resumed = trial.is_evaluated
    return trials, open_batch


def in_batch_order(records: Sequence[Record]) -> list[Record]:
    """Return records in which the evaluations of a batch are sorted by their position.

    The evaluations of a batch may have ended in another order.
    """
    evaluated = [record for record in records if record.evaluated]
    in_order = iter(sorted(evaluated, key=attrgetter("evaluated.batch", "evaluated.position")))
    return [next(in_order) if record.evaluated else record for record in records]


def restore_trials(
    records: Iterable[Record], read_rows: Callable[[dict[str, Any]], Rows | None], damaged: Damaged
) -> list[Trial]:
    """Convert the recorded observations to trials.

    A record holds a single evaluation, or all points whose values were supplied by the user.

    Parameters
    ----------
    records : list of Record
    read_rows : callable
        Function that reads the result rows of a trial from the content of its record.
    damaged : callable
        Function ``damaged(n, error)`` that returns the error to raise if record n is invalid.
    """
    trials = []
    for record in records:
        if record.values is None:
            continue
        try:
            rows = read_rows(record.content) if record.evaluated else None
        except UNREADABLE as error:
            raise damaged(record.n, error) from error
        for i, point in enumerate(record.points):
            y, _, *more = (values[i] for values in record.values)
            others = {k: v for k, v in zip(("constraints", "goals"), more, strict=True) if v.size}
            how = record.evaluated
            trial = Trial(point, "given", not record.is_outside, how is not None)
            if how is not None:
                trial.source, trial.batch, trial.position = how.source, how.batch, how.position
                trial.proposal_time = how.proposal_time
            trial.observation = Observation(float(y), others, how and how.error, rows)
            trials.append(trial)
    return trials


def _size_of_open_batch(evaluated: list[Any], n_initial: int, batch_size: int | None) -> int:
    """Return the number of evaluations in an incomplete last batch, otherwise 0.

    A batch is incomplete if the run was interrupted or its budget ended within the batch. A batch
    that ends with the initial points is complete even if it is small.
    """
    if batch_size is None or not evaluated or not evaluated[-1].evaluated.in_order:
        return 0
    last = [r for r in evaluated if r.evaluated.batch == evaluated[-1].evaluated.batch]
    is_initial = [record.evaluated.source in INITIAL for record in evaluated]
    ends_initial = is_initial[-len(last)] and sum(is_initial) >= n_initial
    return 0 if len(last) >= batch_size or ends_initial else len(last)
