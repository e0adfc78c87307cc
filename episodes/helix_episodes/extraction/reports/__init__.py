"""The package helix_episodes.extraction.reports."""
