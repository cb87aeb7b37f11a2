"""What was to be done, what was done, and is this new: tasks by hand, their likeness, prior work, plain questions."""
