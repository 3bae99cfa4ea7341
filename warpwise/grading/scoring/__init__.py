"""Scores from records: course settings, roster, overrides, late policy, the platforms' formats."""
