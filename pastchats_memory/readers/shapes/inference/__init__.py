"""Conversations known by their columns alone, in five steps: `tables`, `columns`, `sequence`, `parties`, `evidence`.

`bylines`, `pages`, `patches` and `references` make tables of what is not yet one. Each step is pure.
"""
