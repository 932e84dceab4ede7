"""Journal files, and descriptions by which two searches are compared."""
