"""The faces of helix-graph: the command line."""
