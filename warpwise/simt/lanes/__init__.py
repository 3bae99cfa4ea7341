"""Lanes: which of them run together, which are active, and what is counted and recorded over them."""
