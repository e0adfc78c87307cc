"""What stands out in a memory, in at most ten sentences: `helix_graph.highlights.api`."""
