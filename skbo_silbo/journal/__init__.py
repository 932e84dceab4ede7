"""Files that hold what was paid for: lines of JSON that survive a kill, and know when damaged."""

from skbo_silbo.journal._checked_lines import checked_line, read_checked_line
from skbo_silbo.journal._journal import Journal, JournalKind
from skbo_silbo.journal._side_file import SideFile

__all__ = ["Journal", "JournalKind", "SideFile", "checked_line", "read_checked_line"]
