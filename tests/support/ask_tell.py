"""What many tests do with an optimiser."""


def run(optimizer, func, n):
    """Ask for and tell n points, one at a time; return the optimiser."""
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, func(x))
    return optimizer
