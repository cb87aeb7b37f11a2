"""Files of task trackers."""
