"""``status``: what the memory holds, and how good its labels are."""
