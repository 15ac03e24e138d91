"""Storage: raw snapshots, the DuckDB file, releases and exports.

Everything written to disk is written here, aside first and then switched in one step, so that a reader always
finds a whole release. It alone may import duckdb; it knows the declarations in transforms/, and no checks.
"""
