"""From a session to an episode: decisions, events, links, fixes, outcome, lessons, metrics."""
