"""The package helix_episodes.readers.codex."""
