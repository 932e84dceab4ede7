"""Numerics without a scikit-learn surface: graphs, pencils, Gaussian processes, boxes."""
