"""Everything of our own SQLite file. No other room knows that there is SQL."""
