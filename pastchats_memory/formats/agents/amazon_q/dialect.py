"""Name Amazon Q's own spellings, which Kiro CLI shares."""

from __future__ import annotations

from pastchats_memory.formats.base.dialect import COMMON, Dialect

DIALECT = COMMON | Dialect(editors=("fs_write", "fs_read"))
