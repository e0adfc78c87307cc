"""The causal graph: labels, facts, the fold, the file, and the questions asked of it."""
