"""The rules that a project writes for its agents: what sessions show of each, and what rules are missing."""
