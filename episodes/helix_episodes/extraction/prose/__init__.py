"""The package helix_episodes.extraction.prose."""
