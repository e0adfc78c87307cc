"""The commands, one file per noun or question; each shows what one method of the library answers."""

from __future__ import annotations
