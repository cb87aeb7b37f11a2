"""Coding agents: a module or package for each, with everything that is known about it."""
