"""All that a sandbox holds of the grader. These modules import nothing of Warpwise."""
