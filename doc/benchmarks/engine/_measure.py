"""Memory of a process."""

import re
import resource
import sys
from pathlib import Path


def peak_rss_mib():
    """Largest resident memory of this process so far, in MiB.

    Linux: ``VmHWM``. ``ru_maxrss`` would there include the process that started this one, because
    it survives exec; elsewhere it is what is returned.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
