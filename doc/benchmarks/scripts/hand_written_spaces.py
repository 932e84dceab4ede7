"""Search spaces of the kind that users write, for models and Pipelines."""

import numpy as np
from known_data import JUDGED
from scipy.stats import loguniform, randint, uniform
from sklearn import ensemble, linear_model, neighbors, svm, tree
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectPercentile
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)

SCALERS = [StandardScaler(), MinMaxScaler(), "passthrough"]
FOREST = {"n_estimators": 25, "random_state": 0}


def _forest(weights):
    return {
        "max_depth": [None, 2, 4, 8, 16],
        "min_samples_leaf": randint(1, 20),
        "min_samples_split": randint(2, 20),
        "max_features": ["sqrt", "log2", None, 0.5],
        "bootstrap": [True, False],
        **weights,
    }


GAMMAS = ["scale", 0.001, 0.01, 0.1, 1.0]
BALANCED = {"class_weight": [None, "balanced"]}
BOOSTING = {
    "learning_rate": loguniform(0.01, 0.3),
    "max_iter": [25, 50, 100],
    "max_leaf_nodes": [7, 15, 31],
    "max_depth": [None, 3, 6],
    "l2_regularization": [0.0, 0.1, 1.0],
}
NEIGHBORS = {
    "standardscaler": SCALERS,
    "model__n_neighbors": randint(1, 51),
    "model__weights": ["uniform", "distance"],
    "model__metric": ["euclidean", "manhattan", "chebyshev"],
}
TREE = {
    "max_depth": [None, 2, 4, 8, 16],
    "min_samples_leaf": randint(1, 30),
    "max_features": ["sqrt", None],
    "splitter": ["best", "random"],
}
SPACES = {  # by kind and name: model and space
    "classification": {
        "extra trees": (
            ensemble.ExtraTreesClassifier(**FOREST),
            _forest(BALANCED) | {"criterion": ["gini", "entropy"]},
        ),
        "forest": (ensemble.RandomForestClassifier(**FOREST), _forest(BALANCED)),
        "SVC grid": (
            svm.SVC(),
            {"C": [0.1, 1, 10, 100], "gamma": GAMMAS, "kernel": ["rbf", "poly", "sigmoid"]},
        ),
        "SVC": (
            svm.SVC(),
            {
                "standardscaler": SCALERS,
                "model__C": loguniform(1e-2, 1e3),
                "model__gamma": loguniform(1e-4, 1e1),
                "model__class_weight": [None, "balanced"],
            },
        ),
        "neighbours": (neighbors.KNeighborsClassifier(), NEIGHBORS),
        "tree": (
            tree.DecisionTreeClassifier(random_state=0),
            TREE | BALANCED | {"criterion": ["gini", "entropy", "log_loss"]},
        ),
        "boosting": (
            ensemble.HistGradientBoostingClassifier(random_state=0),
            BOOSTING | BALANCED,
        ),
        "logistic": (
            linear_model.LogisticRegression(max_iter=500),
            {
                "standardscaler": SCALERS,
                "model__C": loguniform(1e-3, 1e3),
                "model__class_weight": [None, "balanced"],
                "model__fit_intercept": [True, False],
            },
        ),
        "SGD": (
            linear_model.SGDClassifier(random_state=0),
            {
                "loss": ["hinge", "log_loss", "squared_hinge", "modified_huber"],
                "penalty": ["l2", "l1", "elasticnet"],
                "alpha": loguniform(1e-6, 1e-1),
                "learning_rate": ["optimal", "adaptive"],
                "eta0": loguniform(1e-3, 1.0),
            },
        ),
    },
    "regression": {
        "extra trees": (
            ensemble.ExtraTreesRegressor(**FOREST),
            _forest({"criterion": ["squared_error", "friedman_mse"]}),
        ),
        "forest": (ensemble.RandomForestRegressor(**FOREST), _forest({})),
        "SVR grid": (
            svm.SVR(),
            {
                "C": [0.1, 1, 10, 100],
                "gamma": GAMMAS,
                "kernel": ["rbf", "poly", "sigmoid"],
                "epsilon": [0.01, 0.1, 0.5],
            },
        ),
        "SVR": (
            svm.SVR(),
            {
                "standardscaler": SCALERS,
                "model__C": loguniform(1e-2, 1e3),
                "model__gamma": loguniform(1e-4, 1e1),
                "model__shrinking": [True, False],
            },
        ),
        "neighbours": (neighbors.KNeighborsRegressor(), NEIGHBORS),
        "tree": (
            tree.DecisionTreeRegressor(random_state=0),
            TREE | {"criterion": ["squared_error", "friedman_mse"]},
        ),
        "boosting": (
            ensemble.HistGradientBoostingRegressor(random_state=0),
            BOOSTING | {"loss": ["squared_error", "absolute_error"]},
        ),
        "elastic net": (
            linear_model.ElasticNet(),
            {
                "standardscaler": SCALERS,
                "model__alpha": loguniform(1e-4, 1.0),
                "model__l1_ratio": uniform(0, 1),
                "model__selection": ["cyclic", "random"],
            },
        ),
    },
}


SPACES["classification Pipeline"] = {
    "select, SVC": (
        make_pipeline(StandardScaler(), SelectPercentile(), svm.SVC()),
        {
            "selectpercentile__percentile": [20, 40, 60, 80, 100],
            "svc__C": loguniform(1e-2, 1e3),
            "svc__gamma": loguniform(1e-4, 1e1),
        },
    ),
    "PCA, neighbours": (
        make_pipeline(StandardScaler(), PCA(0.9), neighbors.KNeighborsClassifier()),
        {
            "pca__n_components": uniform(0.5, 0.49),
            "pca__whiten": [True, False],
            "kneighborsclassifier__n_neighbors": randint(1, 51),
            "kneighborsclassifier__weights": ["uniform", "distance"],
        },
    ),
    "bins, logistic": (
        make_pipeline(
            StandardScaler(),
            KBinsDiscretizer(strategy="uniform"),
            linear_model.LogisticRegression(max_iter=500),
        ),
        {
            "kbinsdiscretizer__n_bins": randint(2, 20),
            "kbinsdiscretizer__strategy": ["uniform", "kmeans"],
            "logisticregression__C": loguniform(1e-3, 1e3),
            "logisticregression__class_weight": [None, "balanced"],
        },
    ),
}
SPACES["regression Pipeline"] = {
    "splines, ridge": (
        make_pipeline(StandardScaler(), SplineTransformer(), linear_model.Ridge()),
        {
            "splinetransformer__n_knots": randint(3, 15),
            "splinetransformer__degree": [1, 2, 3],
            "splinetransformer__extrapolation": ["constant", "linear", "continue"],
            "ridge__alpha": loguniform(1e-6, 1e3),
        },
    ),
    "kernel, ridge": (
        make_pipeline(StandardScaler(), Nystroem(random_state=0), linear_model.Ridge()),
        {
            "nystroem__gamma": loguniform(1e-4, 1e1),
            "nystroem__kernel": ["rbf", "laplacian"],
            "nystroem__n_components": [20, 50, 100],
            "ridge__alpha": loguniform(1e-6, 1e3),
        },
    ),
    "quantiles, elastic net": (
        make_pipeline(QuantileTransformer(n_quantiles=100), linear_model.ElasticNet()),
        {
            "quantiletransformer__n_quantiles": randint(5, 150),
            "quantiletransformer__output_distribution": ["uniform", "normal"],
            "elasticnet__alpha": loguniform(1e-4, 1.0),
            "elasticnet__l1_ratio": uniform(0, 1),
        },
    ),
}


def space_tasks(suffix, most=None):
    """Return kind, model and data set of tasks, in turns for classification and regression."""
    tasks = []
    for kind, sets in JUDGED.items():
        models = [*SPACES[kind + suffix]] * 3
        tasks += [(i, kind + suffix, *own) for i, own in enumerate(zip(models, sets))]  # noqa: B905
    return [own for _, *own in sorted(tasks, key=lambda task: task[0])[:most]]


def after_scaler(model, space):
    """Return a Pipeline that scales the features first, and the space with its parameter names."""
    if isinstance(model, Pipeline):
        return model, space
    is_full = any(name.startswith("model__") for name in space)
    space = space if is_full else {f"model__{n}": values for n, values in space.items()}
    return Pipeline([("standardscaler", StandardScaler()), ("model", model)]), space


def scores_of(search):
    """Return the scores in the order of evaluation, -1 for failed candidates."""
    scores = np.nan_to_num(search.cv_results_["mean_test_score"], nan=-1.0)
    return [float(f"{v:.5g}") for v in scores]
