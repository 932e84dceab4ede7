"""Experiments as data: speed, memory and quality, side by side with peers, one JSON line a cell.

``python -m skbo_silbo.benchmarks run NAME --out FILE`` measures, ``... report FILE`` tells. Three
rooms: ``engine`` (cells, store, runner, report, command line), ``search`` (contestants and
problems of experiments about optimisers) and ``experiments``, a file each. The project's own
measurements are more files of that room, in ``doc/benchmarks/experiments`` of a checkout.
"""
