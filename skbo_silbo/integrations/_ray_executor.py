"""Workers of a Ray cluster as an executor in the manner of ``concurrent.futures``."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from skbo_silbo._checks import check_count
from skbo_silbo.workers import LostWorkerError

P = ParamSpec("P")
T = TypeVar("T")
LOSSES = (  # names in ray.exceptions
    "WorkerCrashedError",
    "NodeDiedError",
    "LocalRayletDiedError",
    "OutOfMemoryError",
    "ObjectLostError",
)


class RayExecutor(Executor):
    """Executor whose calls are tasks of `Ray <https://ray.io>`_.

    For :func:`~skbo_silbo.minimize`, and for whatever else takes an executor. Every call is one
    task, in a process of Ray's, on whichever machine of the cluster has room. A thread here waits
    for each; what waits for a thread can be cancelled. Ray is connected to as it is, or else
    started on this machine by the first call, as ``ray.init()`` does.

    Parameters
    ----------
    max_workers : int or None, default=None
        How many calls run at once. None: as many as the cluster has CPUs when this is made.
    **options
        What a task asks of Ray, as ``num_cpus=2``, ``num_gpus=1``, ``resources={"license": 1}`` or
        ``runtime_env``; see ``ray.remote``. ``max_retries`` is 0 unless it is given: `minimize`
        itself decides what becomes of a point whose worker died.

    Raises
    ------
    ImportError
        When Ray is not installed.
    ValueError
        When `max_workers` is no integer of at least 1.

    Notes
    -----
    A call whose worker or machine was lost ends with
    :class:`~skbo_silbo.LostWorkerError`; the executor can still be used. What the
    function itself raises is raised as it is. Functions are sent by Ray's cloudpickle, so that
    lambdas and what a notebook defines will do.

    Examples
    --------
    >>> from skbo_silbo import minimize  # doctest: +SKIP
    >>> from skbo_silbo.integrations import RayExecutor  # doctest: +SKIP
    >>> with RayExecutor(4) as executor:  # doctest: +SKIP
    ...     result = minimize(lambda x: (x**2).sum(), [(-1, 1)] * 5, executor=executor)
    """

    def __init__(self, max_workers: int | None = None, **options: Any) -> None:
        self._ray = ray = _import_ray()
        if not ray.is_initialized():
            ray.init()
        if max_workers is None:
            max_workers = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        self._max_workers = check_count("max_workers", max_workers)
        self._task = ray.remote(**{"max_retries": 0, **options})(_call)
        self._threads = ThreadPoolExecutor(self._max_workers, "RayExecutor")

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return the future of a call, as ``concurrent.futures.Executor`` does."""
        return self._threads.submit(self._run, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no further calls, as ``concurrent.futures.Executor`` does; Ray goes on running."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _run(self, fn, args, kwargs):
        try:
            return self._ray.get(self._task.remote(fn, args, kwargs))
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            losses = tuple(getattr(self._ray.exceptions, name) for name in LOSSES)
            if not isinstance(error, losses):
                raise
            raise LostWorkerError(f"Ray: {error}") from error


def _import_ray():
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            "RayExecutor must have Ray, which is not installed. "
            "Install it: pip install skbo_silbo[ray]."
        ) from error
    return ray


def _call(fn, args, kwargs):
    return fn(*args, **kwargs)
