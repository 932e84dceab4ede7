"""`minimize`, and the optimisers that its `method` can name."""

from skbo_silbo.minimization._minimize import minimize
from skbo_silbo.minimization._result import MinimizeResult

__all__ = ["MinimizeResult", "minimize"]
