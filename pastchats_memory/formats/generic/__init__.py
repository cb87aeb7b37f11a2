"""JSON of unknown shape."""
