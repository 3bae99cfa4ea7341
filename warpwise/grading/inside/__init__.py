"""All that a sandbox holds of the grader. Of Warpwise, only ``notebook`` imports something."""
