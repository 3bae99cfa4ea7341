"""All that a sandbox holds of the grader. In there, each of these modules stands alone: they import nothing of Warpwise."""
