"""When a search ends, and what it shows until then.

By ``patience="auto"`` that is when all candidates that are left are expected to gain less than
what the score of the best is uncertain by: their number times the largest expected improvement,
which is more than they gain together as long as the model is right, against the standard error of
the best candidate's mean over the folds (the threshold of Makarova et al. 2022, who compare it
with a bound on the regret).
"""

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from skbo_silbo.model_selection._candidates import mean_error

# Without tqdm's own estimate of the remaining time, which does not know of `max_time`.
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]"


@dataclass(frozen=True)
class SearchProgress:
    """What a search tells its callback after a candidate (:doc:`/guide_tune`).

    Attributes
    ----------
    n_candidates : int
        How many there have been, this one and those from the journal included.
    params : dict
        Of this one.
    score : float
        Its mean test score, NaN if it failed. Where `refit` lists goals, that of the first metric
        of `scoring` alone.
    source : str
        Where it came from, as in ``cv_results_``.
    best_params, best_score : dict or None, float
        Of the best so far by `score`; None and -inf before the first success.
    elapsed : float
        Seconds since the start of the search, or since the last candidate from the journal.
    """

    n_candidates: int
    params: dict
    score: float
    source: str
    best_params: dict | None
    best_score: float
    elapsed: float


class Stopping:
    """Counts candidates, time and candidates without improvement.

    Candidates recalled from a journal count as if evaluated now, except that they take no time.

    Parameters
    ----------
    n_candidates : int or float
        Most candidates to evaluate.
    max_time : float or None
        Seconds after which no further candidate is begun; the first ones always are.
    patience : int, "auto" or None
        Candidates in a row without a better score after which no further candidate is begun;
        "auto" leaves it to `stop_if_gain_is_negligible`.
    """

    def __init__(self, n_candidates, max_time=None, patience=None):
        self.n_candidates = n_candidates
        self.max_time = math.inf if max_time is None else max_time
        self.looks_at_gain = patience == "auto"
        self.patience = math.inf if patience is None or self.looks_at_gain else patience
        self.n_done, self.n_idle, self.best = 0, 0, -math.inf
        self._best_params = self._best_rows = self._ended = None
        self._n_new = 0
        self._start = time.monotonic()

    @property
    def elapsed(self):
        """Seconds since the start, or since the last recalled candidate."""
        return time.monotonic() - self._start

    @property
    def seconds_left(self):
        """Seconds until `max_time`, or until the last candidate at the pace so far if sooner."""
        pace = self.elapsed / self._n_new if self._n_new else math.inf
        return max(min(self.max_time - self.elapsed, pace * (self.n_candidates - self.n_done)), 0.0)

    def room(self, batch_size, n_under_way=0):
        """Return how many candidates, at most `batch_size`, may be evaluated next: 0 to end."""
        if self._n_new and self.elapsed >= self.max_time:
            self.end("max_time")
        if self.n_idle >= self.patience:
            self.end("patience")
        left = self.n_candidates - self.n_done - n_under_way
        return 0 if self._ended else int(min(batch_size, left))

    def stop_if_gain_is_negligible(self, gain, refit):
        """End if the candidates left, each with this expected gain, are not worth their fits.

        Parameters
        ----------
        gain : float
            In units of the score.
        refit : object
            Says which metric counts, as for `mean_score`.
        """
        left = self.n_candidates - self.n_done
        if left * gain < mean_error(self._best_rows, refit):
            self.end("patience")

    def end(self, reason):
        """Let there be no room any more; the first reason counts."""
        self._ended = self._ended or reason

    def reason(self, *, space_is_finite):
        """Return why there is no room; `space_is_finite`: `n_candidates` is the space's size."""
        return self._ended or ("exhausted" if space_is_finite else "n_iter")

    def progress(self, candidate):
        """Return what a callback is told after this candidate."""
        return SearchProgress(
            n_candidates=self.n_done,
            params=dict(candidate.params),
            score=candidate.score,
            source=candidate.source,
            best_params=self._best_params,
            best_score=self.best,
            elapsed=self.elapsed,
        )

    def count(self, candidate, *, recalled=False):
        """Record one more candidate; its score is NaN if it failed."""
        if recalled:
            self._start = time.monotonic()
        self._n_new += not recalled
        self.n_done += 1
        self.n_idle += 1
        if candidate.score > self.best:  # False for NaN
            self.best, self.n_idle = candidate.score, 0
            self._best_params, self._best_rows = dict(candidate.params), candidate.rows


@contextmanager
def show_progress(verbose, total):
    """Give a function of (stopping, candidate) that shows a candidate.

    Parameters
    ----------
    verbose : int
        0 shows nothing; 1 a bar if tqdm is installed, otherwise a line per candidate; from 2 on
        lines with the parameters, since scikit-learn's own lines would tear a bar apart.
    total : int
        Number of candidates to come.
    """
    tqdm = _tqdm() if verbose == 1 else None
    if not verbose:
        yield lambda stopping, candidate: None
    elif tqdm is None:
        yield partial(_print_line, total, verbose > 1)
    else:
        with tqdm(total=total, desc="SILBOSearchCV", unit="candidate", bar_format=BAR) as bar:
            yield partial(_move, bar)


def _tqdm():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _move(bar, stopping, candidate):
    left = f"{stopping.seconds_left:.0f} s left"
    bar.set_postfix_str(f"best score {stopping.best:.4g}, {left}", refresh=False)
    bar.update()


def _print_line(total, with_params, stopping, candidate):
    pairs = candidate.params.items() if with_params else ()
    shown = [f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in pairs]
    print(
        f"[SILBOSearchCV {stopping.n_done}/{total}] score {candidate.score:.4g}, "
        f"best {stopping.best:.4g}, {stopping.elapsed:.1f} s, "
        f"{stopping.seconds_left:.1f} s left{': ' if with_params else ''}{', '.join(shown)}"
    )
