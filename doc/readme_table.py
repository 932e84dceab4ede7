"""Write the README's table anew from doc/benchmarks/default.rst: ``python doc/readme_table.py``."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- default table: begin -->\n\n", "\n<!-- default table: end -->\n"
BLIND = ("random", "sobol")


def read_tables(page):
    """Return {title: list of rows}, header first, of all titled list-tables of a page."""
    tables = {}
    for title, body in re.findall(
        r"^([^\n]+)\n-{4,}\n\n\.\. list-table::\n(.*?)\n\n(?=\S)", page, re.M | re.S
    ):
        cells = re.findall(r"^   (\*| ) - ?(.*)$", body, re.M)
        rows = []
        for first, cell in cells:
            if first == "*":
                rows.append([])
            rows[-1].append(cell.strip())
        tables[title] = rows
    return tables


def row_of(title, rows):
    """Return the README's row: problem, we, the best peer, random search."""
    runs = {row[0]: (float(row[2]), row[2], row[1]) for row in rows[1:]}
    peers = {name: run for name, run in runs.items() if name not in (*BLIND, "silbo")}
    peer = min(peers, key=lambda name: peers[name][0])
    ours = (
        f"**{tell(runs['silbo'])}**" if runs["silbo"][0] < peers[peer][0] else tell(runs["silbo"])
    )
    problem = title.removesuffix(", 100 evaluations")
    return f"| {problem} | {ours} | {tell(peers[peer])} {peer} | {tell(runs['random'])} |"


def tell(run):
    """Return the mean and how many runs it is of."""
    _, mean, n = run
    return f"{mean} ({n})"


def make_table(page):
    """Return the table of all problems measured over 100 evaluations."""
    head = ["| problem | `SILBO` | best peer | random |", "|---|---|---|---|"]
    tables = read_tables(page)
    rows = [row_of(t, rows) for t, rows in tables.items() if t.endswith(", 100 evaluations")]
    return "\n".join([*head, *rows]) + "\n"


def refresh(readme, page):
    """Return the text of the README with the table of this page."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + make_table(page) + END + after


if __name__ == "__main__":
    readme = ROOT / "README.md"
    page = (ROOT / "doc" / "benchmarks" / "default.rst").read_text()
    readme.write_text(refresh(readme.read_text(), page))
