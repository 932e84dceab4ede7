"""What tests of workers ask of them."""


def outcomes_of(workers):
    """Return the outcome of every call, by its key."""
    found = []
    while workers.n_calls:
        found += workers.wait()
    return {outcome.call.key: outcome for outcome in found}
