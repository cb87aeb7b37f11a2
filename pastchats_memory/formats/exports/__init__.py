"""Exports of chat services and programs, and fine-tuning sets."""
