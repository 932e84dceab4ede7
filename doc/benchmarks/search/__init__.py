"""Experiments about optimisers: who takes part, on what, and how the runs are reported."""
