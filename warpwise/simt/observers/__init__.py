"""Observers of launches: the counters and the recorder of events, which come with every one."""
