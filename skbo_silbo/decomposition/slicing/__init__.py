"""Slices of the response, and what they make of the rows."""
