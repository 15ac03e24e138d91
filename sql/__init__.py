"""Data, not code: the SQL that readers and the build share.

`marts/*.sql` are the views analysts query; `checks/*.sql` each return the rows that fail one check, so that
an empty answer passes. The folder is a package only so that its files are installed with the others.
"""
