"""Files that hold what was paid for: lines of JSON that survive a kill, and know when damaged.

And whose they are: descriptions of what a search was given, by which one is told from another.
"""

from skbo_silbo.journal._changes import changed, changes
from skbo_silbo.journal._checked_lines import checked_line, read_checked_line
from skbo_silbo.journal._describe import describe, describe_data, digest
from skbo_silbo.journal._differences import differences, differences_in_words, require_same
from skbo_silbo.journal._journal import Journal, JournalKind
from skbo_silbo.journal._lasting import agreeing, describe_lasting

__all__ = [
    "Journal",
    "JournalKind",
    "agreeing",
    "changed",
    "changes",
    "checked_line",
    "describe",
    "describe_data",
    "describe_lasting",
    "differences",
    "differences_in_words",
    "digest",
    "read_checked_line",
    "require_same",
]
