"""Files to turns and tasks: one module or package for each format."""
