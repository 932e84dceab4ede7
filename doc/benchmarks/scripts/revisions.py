"""Counts of this checkout beside those of another revision, for the scripts that count."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checkout import FOLDER

ROOT = FOLDER.parents[1]
PROBE = "--probe"  # what a process in a checkout is asked for


def arguments(about, table):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--against", metavar="REVISION", help="counted too, in columns before")
    parser.add_argument("--write", action="store_true", help=f"write {table.name} as well")
    return parser.parse_args()


def revision():
    """Return the short name of the commit that is checked out, "+" after it with changes."""
    git = ["git", "-C", str(ROOT)]
    named = subprocess.run(
        [*git, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True
    )
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "skbo_silbo"], check=False)
    return named.stdout.strip() + "+" * bool(changed.returncode)


def columns_of(options, count):
    """Return {revision: counts}, of the other one first; `count` takes the folder of a checkout."""
    columns = {}
    if options.against:
        with tempfile.TemporaryDirectory() as folder:
            git = ["git", "-C", str(ROOT), "worktree"]
            other = ["add", "-q", "--detach", f"{folder}/it", options.against]
            subprocess.run([*git, *other], check=True)
            try:
                columns[options.against] = count(Path(folder) / "it")
            finally:
                subprocess.run([*git, "remove", "--force", f"{folder}/it"], check=True)
    return {**columns, revision(): count(ROOT)}


def probed(script, root):
    """Return what a script prints as JSON when the package is that of a checkout."""
    run = subprocess.run(
        [sys.executable, script, PROBE],
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(run.stdout.splitlines()[-1])
