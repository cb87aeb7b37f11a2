"""Read the files of task trackers."""
