"""What ranking and attributing insights comes to, in a world whose truth is known: see `figures` and `effects`.

python benchmarks/feedback [--seeds 8] [--tasks 4000] [--spread 0.085] [--quick]
python benchmarks/feedback effects [--worlds 40] [--withhold 0.2]
"""

import argparse
import sys

import effects
import figures

if __name__ == "__main__":
    if sys.argv[1:2] == ["effects"]:
        options = argparse.ArgumentParser(description=effects.__doc__)
        options.add_argument("--worlds", type=int, default=40)
        options.add_argument("--withhold", type=float, default=0.2)
        given = options.parse_args(sys.argv[2:])
        effects.report(given.worlds, given.withhold)
    else:
        figures.main()
