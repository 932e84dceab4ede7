"""Tests: how many directions there are, and whether what they assume holds."""
