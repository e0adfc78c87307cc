"""``python -m helix_cli``: the command without its script."""

from helix_cli.entry import main

main()
