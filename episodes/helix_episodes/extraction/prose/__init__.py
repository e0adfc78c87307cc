"""Prose: what people and agents write, read for failures, choices, decisions and what takes them back."""
