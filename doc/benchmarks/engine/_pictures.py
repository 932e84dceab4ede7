"""Draw the pictures of the pages from their results, when the documentation is built."""

from benchmarks.registry import PICTURES, RESULTS, read_registry

from ._results import latest
from ._store import Store


def draw_pictures(experiments, folder):
    """Draw the pictures that the registry lists, unless they are newer than their results.

    Parameters
    ----------
    experiments : dict
        Name to `Experiment`.
    folder : Path
        Folder of the pages. The pictures are written to its subfolder `PICTURES`.

    Raises
    ------
    FileNotFoundError
        If results are missing, as in a source archive.
    """
    goal = folder / PICTURES
    goal.mkdir(exist_ok=True)
    for page in read_registry()["pages"].values():
        if "pictures" in page:
            files = [RESULTS / name for name in page["results"]]
            require_results(files)
            if not is_newer([goal / name for name in page["pictures"]], files):
                draw_page(experiments, files, goal)


def require_results(files):
    """Raise an error that says where to find results that are missing."""
    for file in files:
        if not file.exists():
            raise FileNotFoundError(
                f"{file} is missing, and the documentation draws pictures from it. Build the "
                "documentation in a git checkout: source archives contain no results."
            )


def is_newer(pictures, files):
    """Return whether all pictures exist and are newer than all files."""
    if not all(picture.exists() for picture in pictures):
        return False
    oldest = min(picture.stat().st_mtime for picture in pictures)
    return oldest > max(file.stat().st_mtime for file in files)


def draw_page(experiments, files, goal):
    """Draw the pictures of all experiments whose results are in the files."""
    results = latest([result for file in files for result in Store(file).read()])
    for name in dict.fromkeys(result["experiment"] for result in results):
        own = [result for result in results if result["experiment"] == name]
        experiments[name].figures(own, goal)
