"""Compare initial designs that start at the centre of the bounds with a plain Sobol sequence.

Functions of bbob are moved so that their optimum is uniformly distributed in the bounds (native),
or hidden among many inputs (planted) or directions (rotated). The other problems are the returns of
linear policies in MuJoCo (swimmer, hopper and cheetah), which need mujoco and gymnasium. Append the
pairs of runs that the results lack, then write the table::

    python doc/benchmarks/scripts/centre_first.py --run planted 100 40 --functions 2 6 10
    python doc/benchmarks/scripts/centre_first.py --run hopper 33 33 --functions 0 1 2 3
    python doc/benchmarks/scripts/centre_first.py --table

The arguments are the kind of problem, the inputs and the active inputs. Of a policy, the functions
are seeds of the first state.
"""

import json
import subprocess
from functools import cache

import numpy as np
from checkout import FOLDER, RESULTS, TABLES, make_parser

from skbo_silbo import minimize, problems

FILE = RESULTS / "centre_first.jsonl"
N_CHANCE, REACH, AFTER, SEED = 4000, 5.0, (50, 100), 1
POLICIES = {"swimmer": "Swimmer-v5", "hopper": "Hopper-v5", "cheetah": "HalfCheetah-v5"}
N_POLICIES = 200  # random policies that show what chance finds


def make_function(kind, d, inputs, function):
    """Return a function, its bounds and its minimum, None if it is unknown."""
    if kind in POLICIES:
        return negative_return(kind, function), np.tile([-1.0, 1.0], (d, 1)), None
    from benchmarks.search.bbob import bbob_problem

    made = bbob_problem(function, inputs, SEED + 1)
    if kind != "native":
        made = getattr(problems, kind)(made, d, random_state=1000 * function + SEED + 1)
        return made, made.bounds, made.optimum
    place = np.random.default_rng([function, d, SEED]).uniform(-REACH, REACH, d)
    shift = made.optimisers[0] - place
    return lambda x: float(made.function(np.atleast_2d(x + shift))[0]), made.bounds, made.optimum


def negative_return(kind, seed):
    """Return a function that maps weights to the negative return of a linear policy."""
    import gymnasium

    env = gymnasium.make(POLICIES[kind])

    def func(x):
        state, _ = env.reset(seed=seed)
        W, total, is_over = np.reshape(x, (*env.action_space.shape, -1)), 0.0, False
        while not is_over:
            state, reward, ended, truncated, _ = env.step(np.clip(W @ state, -1.0, 1.0))
            total, is_over = total + reward, ended or truncated
        return -float(total)

    return func


@cache
def chance_values(kind, d, inputs, function):
    """Return the function values of random points."""
    func, bounds, _ = make_function(kind, d, inputs, function)
    n = N_POLICIES if kind in POLICIES else N_CHANCE
    return [func(x) for x in np.random.default_rng(99).uniform(*np.transpose(bounds), (n, d))]


def run(kind, d, inputs, functions):
    """Append the pairs of runs that the results lack."""
    columns = ["kind", "d", "inputs", "function", "design"]
    done = {tuple(r[c] for c in columns) for r in read_results()}
    command = ["git", "-C", str(FOLDER), "rev-parse", "--short=8", "HEAD"]
    revision = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    for function in functions:
        for design in ("auto", "sobol"):
            place = (kind, d, inputs, function, design)
            if place in done:
                continue
            func, bounds, optimum = make_function(kind, d, inputs, function)
            options = {"n_calls": max(AFTER), "random_state": SEED, "design": design}
            best = np.minimum.accumulate(minimize(func, bounds, **options).func_vals)
            result = {"method": "silbo", **dict(zip(columns, place, strict=True))}
            result["optimum"] = optimum
            result["found"] = [float(best[n - 1]) for n in AFTER]
            # the policies of all first states are alike
            at = (kind, d, inputs, 0 if kind in POLICIES else function)
            y = chance_values(*at)
            result["chance"] = [
                float(np.mean([min(y[i : i + n]) for i in range(0, len(y) - n + 1, n)]))
                for n in AFTER
            ]
            result["environment"] = {"revision": revision}
            with FILE.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


def read_results():
    """Return the stored results."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def clustered(differences, clusters):
    """Return the mean with a standard error over clusters, as text."""
    means = differences.groupby(clusters).mean()
    if len(means) == 1:
        return f"{means.mean():.3f}"
    return f"{means.mean():.3f} ± {means.std() / np.sqrt(len(means)):.3f}"


def write_table():
    """Write the table of the differences in the share of the gap that is closed."""
    import pandas as pd

    results = pd.DataFrame(read_results())
    # the optimum of a policy is unknown: use the best value of any run of the same first state
    place = [results["kind"], results["function"]]
    least = results["found"].map(min).groupby(place).transform("min")
    optimum = results["optimum"].where(results["optimum"].notna(), least).astype(float)
    for i, n in enumerate(AFTER):
        chance, found = (results[name].str[i] for name in ("chance", "found"))
        results[n] = (1.0 - (found - optimum) / (chance - optimum)).clip(lower=-1.0)
    index = ["kind", "d", "inputs", "function"]
    pairs = results.pivot(index=index, columns="design", values=list(AFTER)).dropna()
    change = pd.DataFrame({n: pairs[n]["auto"] - pairs[n]["sobol"] for n in AFTER}).reset_index()
    change["problem"] = change["function"].where(~change["kind"].isin(POLICIES), change["kind"])
    order = {name: i for i, name in enumerate(("native", "planted", "rotated", *POLICIES))}
    rows = []
    for (kind, d, inputs), some in change.groupby(["kind", "d", "inputs"], sort=False):
        rows.append([kind, d, inputs, some])
    rows.sort(key=lambda row: (order[row[0]], row[1], row[2]))
    table = []
    for kind, d, inputs, some in [*rows, ["all", "", "", change]]:
        # one policy problem is one cluster, so its error is over first states
        by = some["function"] if kind in POLICIES else some["problem"]
        row = {"problems": kind, "inputs": d, "active": inputs, "pairs": len(some)}
        for n in AFTER:
            row[f"after {n}"] = clustered(some[n], by)
            won, lost = int((some[n] > 0.0).sum()), int((some[n] < 0.0).sum())
            row[f"won, lost after {n}"] = f"{won}, {lost}"
        table.append(row)
    pd.DataFrame(table).to_csv(TABLES / "centre_first.csv", index=False)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--run", nargs=3, metavar=("KIND", "D", "INPUTS"))
    parser.add_argument("--functions", nargs="+", type=int, default=range(2, 25, 2))
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.run:
        kind, d, inputs = options.run
        run(kind, int(d), int(inputs), options.functions)
    if options.table:
        write_table()
