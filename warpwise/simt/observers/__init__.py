"""Observers that come with every launch: the counters, and the recorder of events."""
