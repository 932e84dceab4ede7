"""Lines of JSON that end with a checksum of themselves."""

import hashlib
import json
import re
from typing import Any

ENDED = re.compile(rb'"check": "[0-9a-f]{16}"\}')
CHECKED = re.compile(rb'(.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)


def checked_line(content: dict[str, Any]) -> bytes:
    """Return a dict as a line of JSON, bytes without a newline.

    Raises
    ------
    ValueError
        If it holds a number that JSON has not (NaN, infinity): any JSON reader can read it.
    """
    line = json.dumps(content, allow_nan=False).encode()[:-1]
    return b'%s, "check": "%s"}' % (line, _checksum(line))


def read_checked_line(line: bytes) -> dict[str, Any] | None:
    """Return the dict in a line without its checksum, or None if it is not as it was written."""
    checked = CHECKED.fullmatch(line)
    if checked is None or checked[2] != _checksum(checked[1]):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return {key: value for key, value in content.items() if key != "check"}


def is_ended(line: bytes) -> bool:
    """Return whether a line has come as far as its checksum, right or wrong."""
    return ENDED.search(line) is not None


def _checksum(line):
    return hashlib.blake2b(line, digest_size=8).hexdigest().encode()
