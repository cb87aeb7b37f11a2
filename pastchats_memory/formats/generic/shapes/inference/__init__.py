"""Conversations known by their columns alone, in five steps: `tables`, `columns`, `sequence`, `parties`, `evidence`.

`bylines`, `pages` and `references` make tables of what is not yet one. Each step is pure.
"""
