"""The sanitizer: races and reads of unwritten memory, from a shadow and the order of accesses."""
