"""What ranking and attributing insights comes to, in a world whose truth is known: see `figures`.

python benchmarks/feedback [--seeds 8] [--tasks 4000] [--spread 0.085] [--quick]
"""

from figures import main

if __name__ == "__main__":
    main()
