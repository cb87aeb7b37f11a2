"""Every result in its textual and its JSON form, defined once for all edges."""
