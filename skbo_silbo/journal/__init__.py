"""Journal files, and descriptions that tell whether two searches are the same."""
