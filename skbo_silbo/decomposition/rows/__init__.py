"""Validation of training data: labels, weights, constant columns and centring."""
