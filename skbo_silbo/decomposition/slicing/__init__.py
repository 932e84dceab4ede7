"""Slices of the response, and statistics of the samples within slices."""
