"""The file below a journal, for tests that attack it: what moves in the package is changed here."""

from skbo_silbo._descriptions import describe as describe
from skbo_silbo._descriptions import describe_data as describe_data
from skbo_silbo._descriptions import format_differences as format_differences
from skbo_silbo.journal.journal import Journal as Journal
from skbo_silbo.journal.journal import checked_line as checked_line
