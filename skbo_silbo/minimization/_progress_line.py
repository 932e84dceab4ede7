"""Lines printed while a search runs."""

from time import perf_counter

from skbo_silbo._checks import check_integer


def make_report(verbose, n_calls):
    """Return what prints a line for a result and the value last found; None where it is silent.

    Parameters
    ----------
    verbose : int
        0: nothing; 1: when the best value improves; 2 or more: always.
    n_calls : int
        Calls that there will be.

    Raises
    ------
    ValueError
        When `verbose` is no integer of at least 0.
    """
    if not isinstance(verbose, bool):
        check_integer("verbose", verbose, 0)
    if not verbose:
        return None
    began, best = perf_counter(), [None]

    def report(result, value):
        improved, best[0] = result.fun == result.fun and result.fun != best[0], result.fun
        if verbose > 1 or improved:
            print(
                f"[{result.nfev}/{n_calls}] value {value:.6g}, best {result.fun:.6g}, "
                f"{perf_counter() - began:.1f} s"
            )

    return report
