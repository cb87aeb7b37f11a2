"""Pure functions over text: no I/O."""
