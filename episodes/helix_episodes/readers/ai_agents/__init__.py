"""The package helix_episodes.readers.ai_agents."""
