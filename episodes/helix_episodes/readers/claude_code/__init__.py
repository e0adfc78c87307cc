"""The package helix_episodes.readers.claude_code."""
