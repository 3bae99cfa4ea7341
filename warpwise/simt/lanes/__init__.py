"""Lanes: the groups that run together, the active masks, and counters and records over them."""
