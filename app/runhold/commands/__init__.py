"""A function a command, over a working set. No SQL, no HTTP, no await."""
