"""Files that hold what was paid for: lines of JSON that survive a kill, and know when damaged.

And whose they are: descriptions of what a search was given, by which one is told from another.
"""
