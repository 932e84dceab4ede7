"""Hyperparameter searches beside one another: tasks, searches, tables."""
