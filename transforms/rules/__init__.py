"""The law as data: one TOML file a rule set, how it is read, judged, told in prose, and proved by its own examples."""
