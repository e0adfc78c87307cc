"""The package helix_episodes.extraction.shell."""
