"""Intervals, stratified comparisons and corrections for looking at many rows: what every count needs to be honest."""

from helix_graph.stats.intervals import Interval, newcombe_interval, wilson_interval

__all__ = ["Interval", "newcombe_interval", "wilson_interval"]
