"""The report: a page for a team's week."""
