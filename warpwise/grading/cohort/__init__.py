"""What a run of the grader shows about a class: ``warpwise report``."""
