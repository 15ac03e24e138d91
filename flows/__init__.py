"""Effects: the network, the clock, the schedule and the terminal.

Here are the settings, the one HTTP client, the fetching of snapshots, the steps of a run as plain functions,
the Prefect flows over those steps, and the command line. It alone may import prefect and requests; nothing
imports it.
"""
