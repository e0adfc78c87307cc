"""What caused what, and what was learnt."""
