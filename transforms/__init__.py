"""Pure computation: bytes and frames in, frames out.

In order: `sources/` reads each upstream's bytes into staging tables, `core/` joins codes and bounds every
measure, `rules/` holds the law as data and its evaluator, `marts/` judges and ranks. Nothing here opens a
file, asks the network, reads the clock or the environment.
"""
