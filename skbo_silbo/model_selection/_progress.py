"""What a search shows while it runs."""

from contextlib import closing


def show_progress(verbose, total):
    """Return a context manager giving an object with ``update(stopping, candidate)``.

    Parameters
    ----------
    verbose : int
        0 shows nothing; 1 a bar if tqdm is installed, otherwise a line per candidate; from 2 on
        lines with the parameters, since scikit-learn's own lines would tear a bar apart.
    total : int
        Number of candidates to come.
    """
    if not verbose:
        return closing(_Silence())
    if verbose == 1:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return closing(_Lines(total, with_params=False))
        return closing(_Bar(tqdm(total=total, desc="SILBOSearchCV", unit="candidate")))
    return closing(_Lines(total, with_params=True))


class _Silence:
    def update(self, stopping, candidate):
        """Show nothing."""

    def close(self):
        """Do nothing."""


class _Bar:
    def __init__(self, bar):
        self.bar = bar

    def update(self, stopping, candidate):
        """Move the bar on by one candidate."""
        left = f"{stopping.seconds_left:.0f} s left"
        self.bar.set_postfix_str(f"best score {stopping.best:.4g}, {left}", refresh=False)
        self.bar.update()

    def close(self):
        """Leave the bar as it is."""
        self.bar.close()


class _Lines:
    def __init__(self, total, *, with_params):
        self.total, self.with_params = total, with_params

    def update(self, stopping, candidate):
        """Print a line for one candidate."""
        params = ": " + _shown(candidate.params) if self.with_params else ""
        print(
            f"[SILBOSearchCV {stopping.n_done}/{self.total}] score {candidate.score:.4g}, "
            f"best {stopping.best:.4g}, {stopping.elapsed:.1f} s, "
            f"{stopping.seconds_left:.1f} s left{params}"
        )

    def close(self):
        """Do nothing."""


def _shown(params):
    pairs = [(k, f"{v:.4g}" if isinstance(v, float) else v) for k, v in params.items()]
    return ", ".join(f"{name}={value}" for name, value in pairs)
