"""HTTP only: parse, call one command or read, hand back its result."""
