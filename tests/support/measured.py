"""Results of benchmarks as they are kept, made by hand."""


def measured(experiment, problem, method, repeat, **further):
    return {
        "experiment": experiment,
        "problem": problem,
        "method": method,
        "repeat": repeat,
        "status": "ok",
        **further,
    }
