"""How a version does on the sealed set, in totals: `sealed_run`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from sealed_run import main

if __name__ == "__main__":
    main()
