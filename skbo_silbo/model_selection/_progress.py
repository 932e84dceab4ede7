"""What a search shows while it runs."""

from contextlib import contextmanager
from functools import partial


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
        with tqdm(total=total, desc="SILBOSearchCV", unit="candidate") as bar:
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
