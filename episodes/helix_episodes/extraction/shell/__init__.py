"""Shell: the commands in a shell text, and what each is for. Hooks load this package: no msgspec, no typing."""
