"""Tuning tasks on data that scikit-learn ships: 2 to 25 parameters, a candidate in 20 to 200 ms.

Chosen before any search was run on them, and never replaced.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn import datasets
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_selection import SelectKBest, SelectPercentile, f_regression
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR

N_FOLDS = 3
CLASSES, ERROR = "accuracy", "neg_root_mean_squared_error"
MOST_STEPS = 20_000  # of libsvm, so that no candidate runs for ever


@dataclass(frozen=True)
class Task:
    """A model to be tuned.

    Attributes
    ----------
    about : str
        Data and model, for readers.
    data : str
        One of scikit-learn's ``load_...`` functions, without the prefix.
    n_rows : int
        How many of its rows, drawn once.
    scoring : str
        The greater the better.
    make : callable
        Without arguments, to (estimator, param_distributions); nothing is made on import.
    """

    about: str
    data: str
    n_rows: int
    scoring: str
    make: Callable

    @property
    def n_parameters(self):
        """How many parameters are searched, those of all branches together."""
        space = self.make()[1]
        branches = space if isinstance(space, list) else [space]
        return len({name for branch in branches for name in branch})

    def rows(self):
        """Return X (n_rows, d) and y (n_rows,)."""
        X, y = getattr(datasets, f"load_{self.data}")(return_X_y=True)
        chosen = np.random.default_rng(0).permutation(len(X))[: self.n_rows]
        return X[chosen], y[chosen]

    def folds(self, seed, n_folds):
        """Return the splitter for a seed."""
        folds = KFold if self.scoring == ERROR else StratifiedKFold
        return folds(n_folds, shuffle=True, random_state=seed)

    def splits(self, seed):
        """Return the (train, test) pairs that every method of this seed is judged on."""
        return list(self.folds(seed, N_FOLDS).split(*self.rows()))


def _scalers():
    return [StandardScaler(), MinMaxScaler(), RobustScaler()]


def _two_parameters():
    return SVC(), {"C": loguniform(1e-2, 1e4), "gamma": loguniform(1e-7, 1e-1)}


def _svc():
    model = Pipeline(
        [("scale", StandardScaler()), ("select", SelectKBest()), ("svc", SVC(max_iter=MOST_STEPS))]
    )
    return model, {
        "scale": _scalers(),
        "select__k": randint(2, 31),
        "svc__C": loguniform(1e-3, 1e3),
        "svc__gamma": loguniform(1e-5, 10),
        "svc__kernel": ["rbf", "poly", "sigmoid"],
        "svc__degree": randint(2, 5),
        "svc__coef0": uniform(-1, 2),
        "svc__class_weight": [None, "balanced"],
    }


def _boosting():
    return GradientBoostingRegressor(random_state=0), {
        "learning_rate": loguniform(1e-3, 1),
        "n_estimators": randint(5, 100),
        "max_depth": randint(1, 7),
        "min_samples_leaf": randint(1, 40),
        "subsample": uniform(0.3, 0.7),
        "max_features": uniform(0.1, 0.9),
        "loss": ["squared_error", "absolute_error", "huber"],
        "alpha": uniform(0.7, 0.29),
    }


def _mlp():
    network = MLPClassifier(max_iter=12, tol=0.0, n_iter_no_change=20, random_state=0)
    return Pipeline([("scale", StandardScaler()), ("mlp", network)]), {
        "scale": _scalers(),
        "mlp__hidden_layer_sizes": randint(4, 65),
        "mlp__alpha": loguniform(1e-6, 10),
        "mlp__learning_rate_init": loguniform(1e-5, 1e-1),
        "mlp__activation": ["relu", "tanh", "logistic"],
        "mlp__batch_size": randint(16, 129),
        "mlp__beta_1": uniform(0, 0.98),
        "mlp__beta_2": uniform(0.9, 0.0999),
    }


def _elastic_net():
    model = Pipeline(
        [
            ("first", StandardScaler()),
            ("products", PolynomialFeatures(include_bias=False)),
            ("scale", StandardScaler()),
            ("select", SelectPercentile(f_regression)),
            ("net", ElasticNet(tol=1e-3, max_iter=2000)),
        ]
    )
    return model, {
        "first": _scalers(),
        "products__degree": randint(1, 4),
        "products__interaction_only": [False, True],
        "select__percentile": randint(2, 101),
        "net__alpha": loguniform(1e-1, 1e2),
        "net__l1_ratio": uniform(0.02, 0.98),
        "net__positive": [False, True],
    }


def _neighbours():
    steps = [("scale", StandardScaler()), ("pca", PCA()), ("knn", KNeighborsClassifier())]
    return Pipeline(steps), {
        "scale": _scalers(),
        "pca__n_components": randint(1, 50),
        "pca__whiten": [False, True],
        "knn__n_neighbors": randint(1, 40),
        "knn__weights": ["uniform", "distance"],
        "knn__p": uniform(1, 3),
    }


def _logistic():
    steps = [
        ("scale", StandardScaler()),
        ("kernel", Nystroem(random_state=0)),
        ("logistic", LogisticRegression(max_iter=100, tol=1e-2)),
    ]
    return Pipeline(steps), {
        "scale": _scalers(),
        "kernel__kernel": ["rbf", "laplacian"],
        "kernel__gamma": loguniform(1e-5, 1),
        "kernel__n_components": randint(5, 120),
        "logistic__C": loguniform(1e-3, 1e4),
        "logistic__class_weight": [None, "balanced"],
        "logistic__fit_intercept": [False, True],
    }


def _sliced():
    from skbo_silbo import SemiSlicedInverseRegression

    steps = [
        ("scale", StandardScaler()),
        ("directions", SemiSlicedInverseRegression(2, random_state=0)),
        ("svr", SVR(max_iter=MOST_STEPS)),
    ]
    return Pipeline(steps), {
        "scale": _scalers(),
        "directions__n_components": randint(1, 6),
        "directions__n_slices": randint(6, 25),
        "directions__alpha": loguniform(1e-3, 1e2),
        "directions__n_neighbors": randint(2, 20),
        "directions__ridge": loguniform(1e-6, 1),
        "svr__C": loguniform(1, 1e4),
        "svr__gamma": loguniform(1e-3, 10),
        "svr__epsilon": loguniform(1e-1, 1e2),
    }


def _splines():
    columns = [*"abcdefghi"]  # all of diabetes but column 1, the sex, which has two values
    places = [0, *range(2, 10)]
    curves = [(c, SplineTransformer(), [i]) for c, i in zip(columns, places, strict=True)]
    model = Pipeline(
        [
            ("curves", ColumnTransformer([*curves, ("sex", "passthrough", [1])])),
            ("scale", StandardScaler()),
            ("select", SelectPercentile(f_regression)),
            ("svr", SVR(max_iter=MOST_STEPS)),
        ]
    )
    return model, {
        **{f"curves__{c}__n_knots": randint(2, 10) for c in columns},
        **{f"curves__{c}__degree": randint(1, 5) for c in columns},
        "curves__sex": ["passthrough", "drop"],
        "scale": _scalers(),
        "select__percentile": randint(10, 101),
        "svr__kernel": ["linear", "rbf"],
        "svr__C": loguniform(1e-1, 1e4),
        "svr__gamma": loguniform(1e-5, 1),
        "svr__epsilon": loguniform(1e-1, 1e2),
    }


def _conditional():
    model = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
    return model, [
        {
            "scale": _scalers(),
            "model": [SVC(max_iter=MOST_STEPS)],
            "model__C": loguniform(1e-3, 1e3),
            "model__gamma": loguniform(1e-5, 10),
            "model__kernel": ["rbf", "poly", "sigmoid"],
        },
        {
            "scale": _scalers(),
            "model": [KNeighborsClassifier()],
            "model__n_neighbors": randint(1, 40),
            "model__weights": ["uniform", "distance"],
            "model__p": uniform(1, 3),
        },
        {
            "scale": _scalers(),
            "model": [GaussianNB()],
            "model__var_smoothing": loguniform(1e-10, 1),
        },
    ]


TASKS = MappingProxyType(
    {
        "svc-2": Task("digits, SVC with C and gamma only", "digits", 400, CLASSES, _two_parameters),
        "svc": Task(
            "breast cancer, scaler, features chosen, SVC", "breast_cancer", 400, CLASSES, _svc
        ),
        "boosting": Task("diabetes, gradient boosting", "diabetes", 300, ERROR, _boosting),
        "mlp": Task("digits, scaler, network of one layer", "digits", 300, "neg_log_loss", _mlp),
        "elastic-net": Task(
            "diabetes, products, features chosen, elastic net", "diabetes", 442, ERROR, _elastic_net
        ),
        "neighbours": Task("digits, scaler, PCA, k nearest", "digits", 400, CLASSES, _neighbours),
        "logistic": Task(
            "digits, Nystroem kernel, logistic regression", "digits", 400, "neg_log_loss", _logistic
        ),
        "sliced": Task(
            "diabetes, SemiSlicedInverseRegression, SVR", "diabetes", 442, ERROR, _sliced
        ),
        "splines": Task(
            "diabetes, a spline for every column, features chosen, SVR",
            "diabetes",
            300,
            ERROR,
            _splines,
        ),
        "conditional": Task(
            "breast cancer, scaler, SVC or k nearest or naive Bayes, each with its own parameters "
            "(list of dicts)",
            "breast_cancer",
            400,
            "roc_auc",
            _conditional,
        ),
    }
)
