"""What the SILBO paper claims, and which runs speak of it: data for write_findings.py."""

from dataclasses import dataclass

# function in the results, problem in published.csv, name
FUNCTIONS = (
    ("branin", "branin", "Branin"),
    ("hartmann6", "hartmann6", "Hartmann6"),
    ("colville_as_run", "colville", "Colville"),
)
TEXTBOOK = (("branin", "", "Branin"), ("hartmann6", "", "Hartmann6"), ("colville", "", "Colville"))
BASELINES = ("REMBO", "HeSBO", "SIR-BO", "ADD-BO")
PRINTED, RAN = "as printed", "as run"
EARLY = 250  # evaluations
ITERATIONS = (1600, 250)  # evaluations of bottom-up's 250 iterations, and of the others'
BU, BU_EI, TD, TD_EI = (
    ("SILBO-BU", "UCB"),
    ("SILBO-BU", ""),
    ("SILBO-TD", "UCB"),
    ("SILBO-TD", ""),
)


@dataclass(frozen=True)
class Claim:
    """That one method is better than another, or that neither is.

    Attributes
    ----------
    words : str
        The same for all that speak of one claim.
    first, second : str, or (method, acquisition) of a published curve
    at : int or tuple
        Evaluations; two, where they differ.
    way : str
        Whether the methods are as printed or as run.
    level : bool
        Whether the claim is that neither is better.
    only : tuple
        Of these functions; all where empty.
    """

    words: str
    first: str | tuple
    second: str | tuple
    at: int | tuple = EARLY
    way: str = PRINTED
    level: bool = False
    only: tuple = ()

    @property
    def evaluations(self):
        """Of the first and of the second method."""
        return self.at if isinstance(self.at, tuple) else (self.at, self.at)


ALIKE = "top-down and SIR-BO are alike"
IMPROVEMENT = "EI and UCB are alike"
AS_BASELINE = {"ADD-BO": "add-bo"}  # as we have it: it was not read how the authors ran it
AUTHORS = tuple(Claim(f"bottom-up beats {b}", BU, (b, "")) for b in BASELINES)
KERNELS = {"REMBO, kernel K_X": "REMBO-KX", "REMBO, kernel K_psi": "REMBO-Kpsi"}
AUTHORS_MORE = (
    *(Claim(f"bottom-up beats {name}", BU, (key, "")) for name, key in KERNELS.items()),
    *(Claim(f"bottom-up beats {b}, 250 iterations", BU, (b, ""), ITERATIONS) for b in BASELINES),
    *(Claim(f"top-down beats {b}", TD, (b, "")) for b in BASELINES),
    Claim(ALIKE, TD, ("SIR-BO", ""), level=True),
    Claim(ALIKE, TD_EI, ("SIR-BO", ""), level=True),
    Claim(IMPROVEMENT, BU_EI, BU, 1600, level=True),
    Claim(IMPROVEMENT, TD_EI, TD, level=True),
)


def as_run(baseline):
    """Return the method that is a baseline with the search of SILBO's authors."""
    return AS_BASELINE.get(baseline, f"{baseline.lower()}-as-run")


def beats(strategy, method, at=EARLY, more="", way=PRINTED):
    """Return the claims that a strategy beats each baseline; both sides printed, or as run."""
    return tuple(
        Claim(
            f"{strategy} beats {b}{more}",
            method,
            b.lower() if way == PRINTED else as_run(b),
            at,
            way,
        )
        for b in BASELINES
    )


RANDOM, TOP_DOWN_RANDOM = "bottom-up beats random search", "top-down beats random search"
UNLABELLED = "unlabelled points help"
ITERATIVE = "10 and 10 points beat 20 random ones"
FREQUENCY = "learning every 40 beats every 10"
ABLATIONS = (
    Claim(UNLABELLED, "silbo-bu-local", "silbo-bu-local-labelled", 550),
    Claim(ITERATIVE, "silbo-bu-10-and-10", "silbo-bu-random-20", 100),
    Claim(FREQUENCY, "silbo-bu-every-40", "silbo-bu-every-10", 550),
)
AT_BOTH = (  # numbers of inputs
    *beats("bottom-up", "silbo-bu"),
    *beats("bottom-up", "silbo-bu-as-run", way=RAN),
    *beats("top-down", "silbo-td-as-run", way=RAN),
    Claim(ALIKE, "silbo-td-as-run", "sir-bo-as-run", way=RAN, level=True),
    *(Claim(RANDOM, "silbo-bu", "random", at) for at in (EARLY, 1600)),
    *(Claim(RANDOM, "silbo-bu-as-run", "random", at, RAN) for at in (EARLY, 1600)),
    Claim(TOP_DOWN_RANDOM, "silbo-td-as-run", "random", way=RAN),
    Claim(IMPROVEMENT, "silbo-bu-ei", "silbo-bu", 1600, level=True),
)
CLAIMS = {
    100: (
        *AT_BOTH,
        Claim(UNLABELLED, "silbo-bu-semi-sir", "silbo-bu-semi-sir-labelled"),
        *ABLATIONS,
    ),
    1000: (*AT_BOTH, *ABLATIONS),
}
AT_ITERATIONS = (
    *beats("bottom-up", "silbo-bu", ITERATIONS, ", 250 iterations"),
    *beats("bottom-up", "silbo-bu-as-run", ITERATIONS, ", 250 iterations", RAN),
)
ON_TEXTBOOK = (
    *beats("top-down", "silbo-td"),
    Claim(TOP_DOWN_RANDOM, "silbo-td", "random"),
    Claim(ALIKE, "silbo-td", "sir-bo", level=True),
)
# not of the paper: what a reader compares with
DEFAULT = tuple(
    Claim(f"this library's default beats {words}", "silbo", method)
    for words, method in (
        ("bottom-up", "silbo-bu"),
        ("bottom-up as run", "silbo-bu-as-run"),
        ("top-down as run", "silbo-td-as-run"),
        ("random search", "random"),
    )
)
# figures of the paper: {method's name: (method in the results, evaluations of 250 iterations)}
CURVES = {
    "bottom-up": ("silbo-bu", 1600),
    "bottom-up, EI": ("silbo-bu-ei", 1600),
    "bottom-up as run": ("silbo-bu-as-run", 1600),
    "top-down": ("silbo-td", 250),
    "top-down, EI": ("silbo-td-ei", 250),
    "top-down as run": ("silbo-td-as-run", 250),
    "REMBO": ("rembo", 250),
    "REMBO as run": ("rembo-as-run", 250),
    "REMBO, kernel K_X": ("rembo-kx", 250),
    "REMBO, kernel K_psi": ("rembo-kpsi", 250),
    "HeSBO": ("hesbo", 250),
    "HeSBO as run": ("hesbo-as-run", 250),
    "SIR-BO": ("sir-bo", 250),
    "SIR-BO as run": ("sir-bo-as-run", 250),
    "ADD-BO": ("add-bo", 250),
}
TIMED = {name: curve for name, curve in CURVES.items() if "as run" not in name and "EI" not in name}
DIRECTIONS = {"SILBO": ("paper", 50), "SIR": ("sir", 50)}
SEMI = {
    "with unlabelled points": ("silbo-bu-local", 1600),
    "without": ("silbo-bu-local-labelled", 1600),
}
FIRST = {"20 random points": ("silbo-bu-random-20", 250), "10 and 10": ("silbo-bu-10-and-10", 250)}
OFTEN = {"every 10": ("silbo-bu-every-10", 1600), "every 40": ("silbo-bu-every-40", 1600)}
NETWORK = {"function": "mlp_weights", "d": 500}
CAMEL = {"function": "three_hump_camel"}
EACH = tuple({"function": function} for function, *_ in FUNCTIONS)
# figure, what it shows, runs in the paper, results, methods, problems
FIGURES = (
    *(
        (f"{figure}", f"{name}, {d} inputs", 100, "paper", CURVES, ({**EACH[i], "d": d},))
        for i, (figure, name) in enumerate(((3, "Branin"), (4, "Hartmann6"), (5, "Colville")))
        for d in (100, 1000)
    ),
    ("6", "500 weights of a network", 5, "paper", CURVES, (NETWORK,)),
    ("7", "directions on Camel, 1000 inputs", 1, "paper-embedding", DIRECTIONS, (CAMEL,)),
    ("8", "directions on Branin, 1000 inputs", 1, "paper-embedding", DIRECTIONS, EACH[:1]),
    *(
        (figure, f"{title}, 1000 inputs", 100, "paper", methods, [{**f, "d": 1000} for f in EACH])
        for figure, title, methods in (
            ("9", "unlabelled points", SEMI),
            ("10", "points of the first embedding", FIRST),
            ("11", "how often the embedding is learnt", OFTEN),
        )
    ),
    ("12", "time, Branin, 1000 inputs", 100, "methods", TIMED, ({**EACH[0], "d": 1000},)),
    ("12", "time, the network", 5, "paper", TIMED, (NETWORK,)),
)
# what decides each claim, in words
DECIDES = {
    "bottom-up beats REMBO": "their 100 runs, and ours as run with 100 inputs",
    **{f"bottom-up beats {name}": "their 100 runs" for name in KERNELS},
    "bottom-up beats HeSBO": "HeSBO's process: ours does better on Colville, whatever its search",
    "bottom-up beats SIR-BO": "SIR-BO's search: ahead with ours, not with theirs",
    "bottom-up beats ADD-BO": "the function: on Hartmann6, 100 inputs, ADD-BO is far ahead",
    "top-down beats REMBO": "their 100 runs",
    "top-down beats HeSBO": "the function: for on Branin, against on Colville",
    "top-down beats SIR-BO": "nothing: level wherever both are the authors'",
    "top-down beats ADD-BO": "the function and the number of inputs",
    ALIKE: "SIR-BO's search: top-down trails ours, before the correction",
    IMPROVEMENT: "size: no difference outlasts the correction",
    RANDOM: "the function: for on Colville alone",
    TOP_DOWN_RANDOM: "more runs; Colville leans to it",
    UNLABELLED: "more pairs; of 30, Colville with 1000 inputs leans to it",
    ITERATIVE: "more pairs; Branin with 100 inputs leans against",
    FREQUENCY: "more pairs; of 30, Hartmann6 leans to it at 100 and at 1000 inputs",
}
