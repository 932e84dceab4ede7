"""What the SILBO paper claims, published means, and what of it was not run here: data for the page.

Read by write_findings.py.
"""

RUN = {"branin": "Branin (r = 4)", "hartmann6": "Hartmann6", "colville_as_run": "their Colville"}
R_RUN = {"branin": 4, "hartmann6": 6, "colville_as_run": 4}
TEXTBOOK = {"branin": "Branin (r = 2)", "hartmann6": "Hartmann6", "colville": "Colville"}
# strategy, inputs, evaluations, all counted: mean and standard deviation over 100 runs, UCB
PUBLISHED = {
    ("bottom-up", 100, 1600): {
        "branin": (-0.458, 0.118),
        "hartmann6": (2.818, 0.318),
        "colville_as_run": (-5.72, 4.33),
    },
    ("bottom-up", 1000, 550): {
        "branin": (-0.607, 0.311),
        "hartmann6": (2.342, 0.489),
        "colville_as_run": (-10.65, 7.87),
    },
    ("top-down", 100, 250): {
        "branin": (-0.719, 0.308),
        "hartmann6": (2.407, 0.310),
        "colville_as_run": (-174.9, 135.5),
    },
}
SHORT = {"bottom-up": "silbo-bu", "top-down": "silbo-td"}
N_PUBLISHED = 100  # runs
# why the table of the strategies has nothing of ours: method, inputs, function
LACKING = {
    **{("silbo-bu-as-run", 1000, f): "not run: d = 100 went first" for f in RUN},
    ("silbo-td", 100, "colville_as_run"): "not run on theirs, a minute a run; textbook's: methods",
}

# claim, first method, second method, evaluations, and the functions if it is not about all;
# ALIKE: that neither is better
ALIKE = "alike"
UNLABELLED = "unlabelled points help (bottom-up, localised)"
UNLABELLED_PLAIN = "unlabelled points help (bottom-up, plain slices)"
BASELINES = ("REMBO", "HeSBO", "SIR-BO", "ADD-BO")
CLAIMS = {
    100: (
        ("bottom-up as run beats random search", "silbo-bu-as-run", "random", 1600),
        ("bottom-up as printed beats random search", "silbo-bu", "random", 1600),
        ("top-down as run beats random search", "silbo-td-as-run", "random", 250),
        ("bottom-up beats REMBO", "silbo-bu", "rembo", 250),
        ("bottom-up beats HeSBO", "silbo-bu", "hesbo", 250),
        ("bottom-up beats SIR-BO", "silbo-bu", "sir-bo", 250),
        ("bottom-up beats ADD-BO", "silbo-bu", "add-bo", 250),
        *((f"top-down as run beats {b}", "silbo-td-as-run", b.lower(), 250) for b in BASELINES),
        ("HeSBO beats random search", "hesbo", "random", 250, ("hartmann6", "colville_as_run")),
        ("random search beats HeSBO", "random", "hesbo", 250, ("branin",)),
        (f"EI and UCB are {ALIKE} (bottom-up)", "silbo-bu-ei", "silbo-bu", 1600),
        (f"EI and UCB are {ALIKE} (top-down)", "silbo-td-ei", "silbo-td", 250),
        (UNLABELLED, "silbo-bu-local", "silbo-bu-local-labelled", 550),
        (UNLABELLED_PLAIN, "silbo-bu-semi-sir", "silbo-bu-semi-sir-labelled", 250),
        ("10 and 10 points beat 20 random ones", "silbo-bu-10-and-10", "silbo-bu-random-20", 100),
        ("learning every 40 beats every 10", "silbo-bu-every-40", "silbo-bu-every-10", 550),
    ),
    1000: (
        ("bottom-up as printed beats random search", "silbo-bu", "random", 550),
        *((f"bottom-up beats {b}", "silbo-bu", b.lower(), 250) for b in BASELINES),
        *((f"top-down as run beats {b}", "silbo-td-as-run", b.lower(), 250) for b in BASELINES),
        (f"EI and UCB are {ALIKE} (bottom-up)", "silbo-bu-ei", "silbo-bu", 550),
        (UNLABELLED, "silbo-bu-local", "silbo-bu-local-labelled", 550),
        ("10 and 10 points beat 20 random ones", "silbo-bu-10-and-10", "silbo-bu-random-20", 100),
        ("learning every 40 beats every 10", "silbo-bu-every-40", "silbo-bu-every-10", 550),
    ),
}
NOT_ADDITIVE = ("branin", "colville")
TEXTBOOK_CLAIMS = (
    *((f"bottom-up beats {b}", "silbo-bu", b.lower(), 250) for b in BASELINES),
    *((f"top-down beats {b}", "silbo-td", b.lower(), 250) for b in BASELINES),
    ("top-down beats random search", "silbo-td", "random", 250),
    (f"top-down and SIR-BO are {ALIKE}", "silbo-td", "sir-bo", 250),
    ("HeSBO beats random search", "hesbo", "random", 250, ("hartmann6", "colville")),
    ("random search beats HeSBO", "random", "hesbo", 250, ("branin",)),
    ("ADD-BO beats random search", "add-bo", "random", 250, ("hartmann6",)),
    ("ADD-BO beats bottom-up", "add-bo", "silbo-bu", 250, ("hartmann6",)),
    ("random search beats ADD-BO", "random", "add-bo", 250, NOT_ADDITIVE),
)
TEXTBOOK_CLAIMS_1000 = (
    *((f"bottom-up beats {b}", "silbo-bu", b.lower(), 250) for b in BASELINES),
    *((f"top-down beats {b}", "silbo-td", b.lower(), 250) for b in BASELINES),
    ("random search beats ADD-BO", "random", "add-bo", 250),
    ("HeSBO beats random search", "hesbo", "random", 250, ("hartmann6", "colville")),
    ("random search beats HeSBO", "random", "hesbo", 250, ("branin",)),
)
