"""What attackers achieve who write what agents and memories read: `poisoning_run`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from poisoning_run import main

if __name__ == "__main__":
    main()
