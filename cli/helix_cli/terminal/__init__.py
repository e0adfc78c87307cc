"""How answers look on a terminal: fitted to the width, coloured by meaning, harmless whatever they quote.

Commands build lines from `markup` and print them through `helix_cli.output`. A pipe gets their plain text. A terminal
gets the same words through `render`, which loads rich only then: programs and agents that read pipes never pay for it.
`characters` knows what a terminal does with a character.

====================  =================================================================================
`NO_COLOR`            set to anything: no colours, no bold, not one escape sequence
`TERM=dumb`           the same
`COLUMNS`             the width, where the terminal's own is not to be taken
====================  =================================================================================
"""

from __future__ import annotations
