"""How long the tests that can go on for ever do so.

Short by default, for ./dev test, and the same at every run where that is possible. ``TEST_PROFILE=full`` plays other
examples each time, and for minutes.
"""

from __future__ import annotations

import os

FULL = os.environ.get("TEST_PROFILE") == "full"
