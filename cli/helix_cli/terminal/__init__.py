"""How answers stand where a person watches: fitted to the width, coloured by meaning, harmless whatever they quote.

Commands say *what* stands on a line (`pieces`) and print it through `helix_cli.output`. A pipe gets the plain text of
it. A terminal gets the same words through `setting`, and only then is rich loaded, which draws: programs and agents
that read pipes never pay for it. `screen` knows what the terminal can, `characters` what a character does to it.

====================  =================================================================================
`NO_COLOR`            set to anything: no colours, no bold, not one escape sequence
`TERM=dumb`           the same
`COLUMNS`             the width, where the terminal's own is not to be taken
====================  =================================================================================
"""
