"""What works and what keeps failing, with counts, intervals and base rates."""
