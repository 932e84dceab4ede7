"""Rows: validated, parted into labelled and unlabelled, weighed, centred."""
