"""Hostile answers and notebooks that are made rather than kept as files."""
