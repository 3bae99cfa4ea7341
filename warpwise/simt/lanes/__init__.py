"""Lanes: the groups that run together, the active masks, and the rules by which they count."""
