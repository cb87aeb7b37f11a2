"""Bytes on disk: archives, other programs' databases, atomic writes, projects, line anchors."""
