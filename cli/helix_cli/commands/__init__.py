"""One file per noun of the command; each shows what one method of the library answers."""
