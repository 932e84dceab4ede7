"""Set before scipy is imported: scikit-learn's own conformance suite then skips nothing."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
