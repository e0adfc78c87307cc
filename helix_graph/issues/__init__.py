"""Recurring failures as issues: where they occurred, what they cost, what repaired them, and whether they came back."""
