"""Pythons that are not installed here: small Debian systems that debootstrap makes and chroot runs.

A system is kept in the folder that SKBO_SILBO_DEBIAN names, and made anew in every run without it.
"""

import os
import shutil
from pathlib import Path

SUITES = {"3.13": "trixie", "3.14": "forky"}  # 3.12 was in no release of Debian
NEEDED = ("debootstrap", "unshare", "chroot")
NETWORK = ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt")
# The mounts end with the command.
INSIDE = """
root=$0 folder=$1 cwd=$2
shift 2
mount --rbind /dev "$root/dev" || exit 125
mount -t proc proc "$root/proc" || exit 125
mount --bind "$folder" "$root/mnt" || exit 125
exec chroot "$root" env --chdir="$cwd" "$@"
"""


def missing():
    """Return what is missing here for such a system, or nothing."""
    if os.geteuid():
        return "root"
    return ", ".join(name for name in NEEDED if shutil.which(name) is None)


def make_system(version, folder, run):
    """Return the folder of a system with a Python of this version."""
    root = Path(os.environ.get("SKBO_SILBO_DEBIAN", folder)) / SUITES[version]
    if not (root / "usr" / "bin" / f"python{version}").exists():
        include = f"--include=ca-certificates,git,python{version}-venv"
        # No mirror of its own; the steps of "sid" are those of every suite, known by name or not.
        steps = (SUITES[version], root, "", "sid")
        root.mkdir(parents=True, exist_ok=True)
        run("debootstrap", "--variant=minbase", include, *steps)
    for name in NETWORK:
        shutil.copyfile(f"/{name}", root / name)
    return root


def inside(root, folder, *command, cwd="/mnt"):
    """Return the command that runs this one in the system, where the folder stands at /mnt."""
    return ["unshare", "--mount", "sh", "-c", INSIDE, root, folder, cwd, *command]
