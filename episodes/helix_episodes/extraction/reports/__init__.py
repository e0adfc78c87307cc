"""Reports: logs that describe the work instead of recording its calls."""
