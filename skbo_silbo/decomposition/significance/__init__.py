"""Tests of the number of directions, and checks of the assumptions of the methods."""
