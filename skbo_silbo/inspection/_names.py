"""Names of features, and what is no transformer of this library."""


def input_names(estimator, X=None):
    """Names of the features fitted, of the columns of X where the fit saw none, or x0, x1, ..."""
    d = estimator.components_.shape[1]
    columns = [name for name in getattr(X, "columns", []) if isinstance(name, str)]
    fallback = columns if len(columns) == d else [f"x{j}" for j in range(d)]
    return list(getattr(estimator, "feature_names_in_", fallback))


def refuse_pipeline(estimator):
    """Refuse a Pipeline, whose step it is that has directions.

    Raises
    ------
    TypeError
    """
    if hasattr(estimator, "steps"):
        raise TypeError(
            f"estimator must be a transformer: got a {type(estimator).__name__}. Pass its step, "
            "such as model[-2], and the rows that reach it, model[:-2].transform(X)."
        )
