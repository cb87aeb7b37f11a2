"""Formats of transcripts and task files."""

import pastchats_memory.readers  # noqa: F401 - the registry imports the generic format, which imports its siblings
