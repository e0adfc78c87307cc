"""View: the memory as pages that people look at, each one file that needs nothing else."""
