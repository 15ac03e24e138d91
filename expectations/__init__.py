"""What must be true of the data before it is published.

Here are the expectations derived from the declarations, the truths about the domain written by hand,
the drift against the last release, and the report. `gx.py` alone may import great_expectations; nothing
here knows how data is stored.
"""
