"""Page of a report: its style for screens of any width, dark mode and paper, and its script."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --text: #1d2129; --paper: #fff; --soft: #6a7180;
  --rule: #d8dce3; --main: #0062a8; --mark: #c44900; --band: #0062a833; }}
@media (prefers-color-scheme: dark) {{ :root {{ --text: #e4e6eb; --paper: #16181d;
  --soft: #a0a7b4; --rule: #363b45; --main: #62b0f0; --mark: #ff9a57; --band: #62b0f033; }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 64rem; padding: 1rem; color: var(--text);
  background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.4rem; overflow-wrap: anywhere; }}
th {{ overflow-wrap: normal !important; }}
h2 {{ font-size: 1.1rem; margin: 1.6rem 0 .5rem; }}
.wide {{ overflow-x: auto; margin: .5rem 0; }}
table {{ border-collapse: collapse; font-size: .9rem; }}
th, td {{ padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; max-width: 30rem; overflow-wrap: break-word; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.sortable th {{ cursor: pointer; white-space: nowrap; }}
.sortable th[aria-sort=ascending]::after {{ content: " ↑"; }}
.sortable th[aria-sort=descending]::after {{ content: " ↓"; }}
.chart {{ width: 100%; max-width: 30rem; margin-right: 1rem; }}
.chart text {{ fill: var(--soft); font-size: 12px; }}
.axis {{ fill: none; stroke: var(--rule); }}
.line {{ fill: none; stroke: var(--main); stroke-width: 2; }}
.band {{ fill: var(--band); }}
.point {{ fill: var(--soft); opacity: .6; }}
.marked {{ fill: var(--mark); }}
.bar {{ width: 7rem; height: .7rem; }}
.fill {{ fill: var(--main); }}
.interval {{ stroke: var(--mark); stroke-width: 2; }}
@media print {{ :root {{ --text: #000; --paper: #fff; --soft: #444; --rule: #bbb; --main: #0062a8;
  --mark: #c44900; --band: #0062a833; }} .wide {{ overflow: visible; }}
  tr, svg {{ break-inside: avoid; }} h2 {{ break-after: avoid; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
<script>
const key = cell => cell.dataset.key ?? cell.textContent;
const number = text => text === "" ? NaN : Number(text);
function compare(a, b) {{
  const x = number(a), y = number(b);
  if (a === "" || b === "") return (a === "") - (b === "");
  return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
}}
for (const head of document.querySelectorAll(".sortable th")) {{
  head.tabIndex = 0;
  head.onclick = () => {{
    const body = head.closest("table").tBodies[0], column = head.cellIndex;
    const sign = head.ariaSort === "ascending" ? -1 : 1;
    for (const other of head.parentNode.cells) other.ariaSort = "none";
    head.ariaSort = sign > 0 ? "ascending" : "descending";
    const rows = [...body.rows];
    rows.sort((a, b) => sign * compare(key(a.cells[column]), key(b.cells[column])));
    body.append(...rows);
  }};
  head.onkeydown = event => {{ if (event.key === "Enter") head.onclick(); }};
}}
</script>
</body>
</html>
"""
