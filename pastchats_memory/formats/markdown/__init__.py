"""Markdown dialogues, copied screens and notes."""
