"""Numerical building blocks: eigenvalue problems, graphs, and Gaussian processes."""
