"""What readers of several log formats share."""

from __future__ import annotations
