"""Experiments as data: speed, memory and quality, side by side with peers, one JSON line a cell.

``python doc/benchmarks run NAME --out FILE`` measures, ``... report FILE`` prints tables. The
packages are ``engine`` (cells, runner, report, command line), ``search`` (contestants and problems
of experiments about optimisers) and ``experiments``, a file each. ``registry.toml`` lists what
belongs to each page.
"""
