"""Checks that find entries of a word list which nothing needs."""
