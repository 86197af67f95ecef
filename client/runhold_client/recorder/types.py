"""The type of a recorder's own ordinary records."""

STEP = "step"
"""The value of a step that names no type of its own."""
