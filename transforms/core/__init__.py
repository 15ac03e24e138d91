"""Entities with their codes joined, and every measure with its bounds. One module a table."""
