"""The search for races and for reads of what nobody wrote: a shadow of memory, and which accesses are ordered."""
