"""The report on a class after a run of the grader: ``warpwise report``."""
