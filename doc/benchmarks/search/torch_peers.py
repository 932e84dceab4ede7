"""Peers made of BoTorch's public pieces (extra ``bench-torch``).

=========  ========  ==================================================
symbol     shape     meaning
=========  ========  ==================================================
U          (n, d)    points of the unit cube
t          (n, 1)    values, maximised, mean 0 and deviation 1
=========  ========  ==================================================
"""

import numpy as np
from scipy.stats import qmc

from .process_peers import ProcessPeer

N_FIRST = 10  # Sobol points before the first model, as many as Optuna and scikit-optimize take
# Of the search for the largest acquisition: climbs, raw samples, steps of a climb.
FEW_CLIMBS = 2, 128, 100
CLIMBS_OF_AX = 20, 1024, 2000  # `optimize_acqf` has no default; steps are those of BoTorch
N_WARM_UP, N_SAMPLES = 128, 128  # steps of NUTS; BoTorch's are 512 and 256, and it keeps a 16th
REFITTED_EVERY = 5  # evaluations; a fit takes a minute
LENGTH, LEAST_LENGTH, MOST_LENGTH = 0.8, 0.5**7, 1.6  # TuRBO: Eriksson et al. (2019), section 2
N_SUCCESSES = 3
N_CANDIDATES = 2000  # theirs: min(100 d, 5000); a joint sample costs the cube of it
N_PERTURBED = 20  # inputs that a candidate changes, in expectation


class ModelPeer(ProcessPeer):
    """Base of the peers on a model: Sobol points first, values by Yeo-Johnson."""

    _start = 0  # from which point on the model learns

    def __init__(self, d, seed):
        super().__init__(d, seed)
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._first = qmc.Sobol(d, seed=np.random.default_rng(seed))

    def ask(self):
        """Return the next point, (d,)."""
        if len(self.y) - self._start < N_FIRST:
            return self._first.random(1)[0]
        mine = slice(self._start, None)
        point = self._propose(*as_tensors(self.U[mine], self.scaled()[mine]))
        return point.numpy().clip(0.0, 1.0)


class BoTorchGP(ModelPeer):
    """SingleTaskGP as BoTorch makes it (dimension-scaled priors), log expected improvement."""

    _climbs = FEW_CLIMBS

    def _propose(self, U, t):
        from botorch.models import SingleTaskGP

        return best_improvement(fitted(SingleTaskGP(U, t)), t, *self._climbs)


class BoTorchGPLonger(BoTorchGP):
    """As `BoTorchGP`; its acquisition is searched as long as Ax does."""

    _climbs = CLIMBS_OF_AX


class SAASBO(ModelPeer):
    """BoTorch's fully Bayesian SAAS, Eriksson and Jankowiak (2021), log EI.

    NUTS draws the hyperparameters anew at every fifth evaluation, in JAX's single precision. In
    between the process keeps the samples and is conditioned on all values.
    """

    def _propose(self, U, t):
        import jax
        from botorch.fit import fit_fully_bayesian_model_nuts
        from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP

        model = SaasFullyBayesianSingleTaskGP(U, t)
        if (len(t) - N_FIRST) % REFITTED_EVERY == 0:
            steps = {"warmup_steps": N_WARM_UP, "num_samples": N_SAMPLES}
            seed = 1000 * self.seed + len(t)  # other draws at every fit
            fit_fully_bayesian_model_nuts(model, **steps, seed=seed, disable_progbar=True)
            jax.clear_caches()  # a program for every number of values: 200 MB each
            self._samples = model.state_dict()
        else:
            model.load_state_dict(self._samples)
            model.train(mode=False)
        return best_improvement(model, t)


class TuRBO(ModelPeer):
    """TuRBO-1: Thompson samples in one trust region, Eriksson et al. (2019).

    Written for this comparison on BoTorch's public pieces. The region is a box round the incumbent,
    its sides in proportion to the length scales; it doubles after 3 successes, halves after d
    failures, and starts anew from Sobol points when its side falls below 2^-7.
    """

    def __init__(self, d, seed):
        super().__init__(d, seed)
        self._begin()

    def tell(self, u, y):
        """Record the value and change the region."""
        best = self.y[self._start :].min(initial=np.inf)
        super().tell(u, y)
        if len(self.y) - self._start > N_FIRST:
            self._count(y < best - 1e-3 * abs(best))

    def _begin(self):
        self._start, self._length = len(self.y), LENGTH
        self._successes = self._failures = 0

    def _count(self, success):
        self._successes = self._successes + 1 if success else 0
        self._failures = 0 if success else self._failures + 1
        if self._successes == N_SUCCESSES:
            self._length, self._successes = min(2 * self._length, MOST_LENGTH), 0
        if self._failures == max(4, self.d):
            self._length, self._failures = self._length / 2, 0
        if self._length < LEAST_LENGTH:
            self._begin()

    def _propose(self, U, t):
        import torch
        from botorch.generation import MaxPosteriorSampling

        model = fitted(local_model(U, t))
        candidates = self._candidates(model, U[t.argmax()])
        with torch.no_grad():
            return MaxPosteriorSampling(model, replacement=False)(candidates, num_samples=1)[0]

    def _candidates(self, model, center):
        """Return points of the region that differ from its centre in about 20 inputs."""
        import torch

        scales = model.covar_module.base_kernel.lengthscale.detach().squeeze(0)
        sides = self._length * scales / scales.log().mean().exp()
        lower, upper = (center - sides / 2).clamp(0, 1), (center + sides / 2).clamp(0, 1)
        sobol = torch.quasirandom.SobolEngine(self.d, scramble=True, seed=len(self.y))
        points = lower + (upper - lower) * sobol.draw(N_CANDIDATES, dtype=torch.double)
        moved = torch.rand(N_CANDIDATES, self.d) < min(N_PERTURBED / self.d, 1.0)
        still = ~moved.any(dim=1)
        moved[still, torch.randint(self.d, (int(still.sum()),))] = True
        return torch.where(moved, points, center)


def local_model(U, t):
    """Return TuRBO's process: Matern-5/2 with bounded length scales and noise."""
    from botorch.models import SingleTaskGP
    from gpytorch.constraints import Interval
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood

    kernel = MaternKernel(
        nu=2.5, ard_num_dims=U.shape[1], lengthscale_constraint=Interval(0.005, 4.0)
    )
    likelihood = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3))
    return SingleTaskGP(U, t, covar_module=ScaleKernel(kernel), likelihood=likelihood)


def as_tensors(U, y):
    """Return points and standardised values, maximised, as double tensors."""
    import torch

    t = -(y - y.mean()) / max(y.std(ddof=1), 1e-12)  # BoTorch warns of others
    return torch.as_tensor(U, dtype=torch.double), torch.as_tensor(t[:, None], dtype=torch.double)


def fitted(model):
    """Return the model with the parameters of the highest posterior density."""
    from botorch import fit_gpytorch_mll
    from gpytorch.mlls import ExactMarginalLogLikelihood

    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def best_improvement(model, t, n_climbs=FEW_CLIMBS[0], n_raw=FEW_CLIMBS[1], n_steps=FEW_CLIMBS[2]):
    """Return the point, (d,), of the largest log expected improvement found."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.optim import optimize_acqf

    d = model.train_inputs[0].shape[-1]
    points, _ = optimize_acqf(
        LogExpectedImprovement(model, best_f=t.max()),
        bounds=torch.stack([torch.zeros(d), torch.ones(d)]).to(t),
        q=1,
        num_restarts=n_climbs,
        raw_samples=n_raw,
        options={"sample_around_best": True, "maxiter": n_steps},
    )
    return points[0].detach()
