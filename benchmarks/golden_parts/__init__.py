"""The parts of ``benchmarks/golden.py``: what is run, in which surroundings, and how two runs are compared."""
