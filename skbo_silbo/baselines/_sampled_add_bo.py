"""Add-BO with its groups sampled from their posterior, by splits and merges."""

from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from skbo_silbo.baselines._add_bo import LENGTHS, AddBO, AdditiveProcess, _correlation, _likeliest
from skbo_silbo.optimizers import Configuration

N_STEPS = 100  # of the chain, between two searches for the hyperparameters


class SampledAddBO(AddBO):
    """`AddBO` whose groups are a state of a Markov chain over partitions of the inputs.

    The arguments are those of `AddBO`. Each proposal has one partition, the last state of the
    chain, which goes on from value to value; the paper averages the acquisition over several.

    References
    ----------
    Gardner, Guo, Weinberger, Garnett and Grosse (2017), "Discovering and Exploiting Additive
    Structure for Bayesian Optimization", AISTATS: Metropolis-Hastings steps that split a group or
    merge two. Groups have at most `n_components` inputs, as in `AddBO`.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> minimize(lambda x: x[0], [(-1, 1)] * 20, method="add-bo-sampled", n_calls=6).nfev
    6
    """

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        made = super().configure(d)
        return replace(
            made, surrogate=SampledAdditiveProcess(cast(AdditiveProcess, made.surrogate).group_size)
        )


class SampledAdditiveProcess(AdditiveProcess):
    """`AdditiveProcess` with groups that are sampled, not the likeliest of random ones.

    Length scale and noise are chosen as there, for the groups sampled. The chain begins with every
    input by itself, and all partitions within the size have the same prior probability.
    """

    def _search(self, Z, targets, rng, former):
        if former is None:
            self.groups_ = [np.array([j]) for j in range(Z.shape[1])]
            self._choose(Z, targets)
        self.groups_ = sample_groups(
            self.groups_,
            partial(_correlation_of, Z, self.length_),
            partial(log_density, targets, self.signal_, self.noise_),
            self.group_size,
            rng,
        )
        self._choose(Z, targets)

    def _choose(self, Z, targets):
        fits = [(*_likeliest(Z, targets, self.groups_, length), length) for length in LENGTHS]
        _, signal, noise, length = max(fits)
        self.length_, self.signal_, self.noise_ = float(length), float(signal), float(noise)


def sample_groups(groups, correlation, density, most, rng, n_steps=N_STEPS):
    """Return the partition after Metropolis-Hastings steps.

    Parameters
    ----------
    groups : list of ndarray of int
        The partition that the chain goes on from.
    correlation : callable
        From a group to the correlations, (n, n), of its summand.
    density : callable
        From the mean of the correlations, (n, n), to the log density of the targets.
    most : int
        Inputs in a group; a merge to more is refused.
    rng : numpy.random.Generator
    n_steps : int, default=100

    Returns
    -------
    groups : list of ndarray of int
    """
    total = sum(map(correlation, groups))
    value = density(total / len(groups))
    for _ in range(n_steps):
        old, new, log_ratio = propose(groups, rng)
        if not new or max(map(len, new)) > most:
            continue
        kept = [g for i, g in enumerate(groups) if i not in old]
        changed = total + sum(map(correlation, new)) - sum(correlation(groups[i]) for i in old)
        other = density(changed / (len(kept) + len(new)))
        if np.log(rng.random()) < other - value + log_ratio:
            groups, total, value = kept + new, changed, other
    return groups


def propose(groups, rng):
    """Return places of groups to replace, groups in their place, and the log ratio of proposals.

    A split, of a group with at least two inputs into two parts, or a merge of two groups: each with
    probability a half where both can be done. The ratio is that of the way back to the way there.
    """
    large = [i for i, group in enumerate(groups) if group.size > 1]
    if rng.random() < split_probability(len(large), len(groups)):
        place = large[rng.integers(len(large))]
        parts = _two_parts(groups[place], rng)
        there = _log_split(len(large), len(groups), groups[place].size)
        n_large = len(large) - 1 + sum(part.size > 1 for part in parts)
        return [place], parts, _log_merge(n_large, len(groups) + 1) - there
    if len(groups) < 2:
        return [], [], 0.0
    pair = rng.choice(len(groups), 2, replace=False)
    merged = np.sort(np.concatenate([groups[i] for i in pair]))
    n_large = len(large) + 1 - sum(groups[i].size > 1 for i in pair)
    back = _log_split(n_large, len(groups) - 1, merged.size)
    return list(pair), [merged], back - _log_merge(len(large), len(groups))


def split_probability(n_large, n_groups):
    """Return how probable it is that a split is proposed."""
    if n_large == 0:
        return 0.0
    return 1.0 if n_groups == 1 else 0.5


def log_density(targets, signal, noise, R):
    """Return the log density of the targets, (n,), with correlations R, up to a constant."""
    C = R + noise * np.eye(len(R))
    factor = cho_factor(C, lower=True)
    quadratic = targets @ cho_solve(factor, targets) / signal
    return -0.5 * quadratic - np.log(np.diag(factor[0])).sum()


def _two_parts(group, rng):
    """Return two parts of a group, none empty, all such pairs being equally probable."""
    first = np.zeros(group.size, dtype=bool)
    while first.all() or not first.any():
        first = rng.random(group.size) < 0.5
    return [group[first], group[~first]]


def _log_split(n_large, n_groups, size):
    return np.log(split_probability(n_large, n_groups) / n_large / (2.0 ** (size - 1) - 1.0))


def _log_merge(n_large, n_groups):
    share = 1.0 - split_probability(n_large, n_groups)
    return np.log(share / (n_groups * (n_groups - 1) / 2.0))


def _correlation_of(Z, length, group):
    return _correlation(Z[:, group], Z[:, group], length)
