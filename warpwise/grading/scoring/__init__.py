"""From records to a gradebook: a course's settings, its roster, overrides, late policy, and the platforms' formats."""
