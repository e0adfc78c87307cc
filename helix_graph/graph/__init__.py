"""The causal graph: labels, facts, the fold, the file, and the questions asked of it."""

#: Weights and shares are integers in millionths: sums of integers do not depend on their order.
MILLION = 1_000_000
