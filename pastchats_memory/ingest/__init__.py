"""Index files: one pipeline (`run`) from the files below some folders to rows."""
