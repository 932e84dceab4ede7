"""Your own function beside other optimisers: ``python -m skbo_silbo.benchmarks --help``.

The project's own measurements are in doc/benchmarks of a checkout, and use the parts here.
"""
