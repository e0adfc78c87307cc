"""What redaction leaves of generated secrets, and what it takes from harmless texts: `redaction_run`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from redaction_run import main

if __name__ == "__main__":
    main()
