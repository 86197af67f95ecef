"""The worker's and the host's library for Runhold."""
