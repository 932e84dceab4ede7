"""Few directions, few labels: dimension reduction and Bayesian optimisation with many inputs."""
