"""Pure functions over text: no files, no clock, no database."""
