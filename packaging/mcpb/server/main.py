"""The memory's server, as a bundle starts it."""

import sys

from helix_cli.entry import main

sys.argv = ["helix-graph", "mcp"]
main()
